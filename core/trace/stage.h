#pragma once

#include "core/base/message.h"
#include "core/tensor/dims.h"
#include "core/tensor/shape.h"
#include "core/trace/tensor_id.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// A straight run of cells: `count` cells from `first` along `axis`.
struct ReadSpan {
    TensorId source;
    Index first;
    int axis;
    std::int64_t count;
};

/// At most six tensors.
class TensorList {
public:
    constexpr TensorList() = default;
    constexpr TensorList(std::initializer_list<TensorId> ids) : count_(ids.size()) {
        std::ranges::copy(ids, ids_.begin());
    }
    constexpr TensorId operator[](std::size_t i) const { return ids_[i]; }
    constexpr std::span<const TensorId> all() const { return {ids_.data(), count_}; }

private:
    std::array<TensorId, 6> ids_{};
    std::size_t count_ = 0;
};

/// One row of the stage table: the words and the shape of a tensor. Its computation is described by the
/// graph; see AttentionGraph.
struct TensorInfo {
    TensorId id;
    std::string_view name;    ///< in files, on the command line and in addresses: "q_heads"
    Message title;            ///< for people: "Attention weights"
    std::string_view symbol;  ///< in formulas: "Q"
    StageGroup group;         ///< step of the strip; of an input, the step that reads it first
    std::array<Axis, 4> axes; ///< outermost first, padded with Axis::none
    Scale scale = Scale::values;
    bool stage = true; ///< a trace holds it
    /// Only problems with one of these parts have it; empty: every problem has it.
    std::array<ProblemPart, 3> when{};

    int rank() const;
    Shape shape(const Dims& dims) const;
};

/// A stop of the strip.
struct GroupInfo {
    StageGroup group;
    std::string_view label; ///< on the strip: "q k v"
    Message title;          ///< above the canvas
    TensorId main;          ///< the stage a walk stops at
    Page page;
    bool by_rows;                          ///< playback goes through it row by row
    TensorList results;                    ///< what the page shows as results, not as factors
    std::array<TensorId, 3> by_projection; ///< the stage for q, k or v; `main` where all share one
};

const TensorInfo& tensor_info(TensorId id);
const GroupInfo& group_info(StageGroup group);
/// The stages, each after those that it reads.
std::span<const TensorInfo> stage_table();
/// What a checkpoint computes around the attention of its layers, in the order of a serial layer with norms
/// before: from the embedding to the probabilities. Those up to `position` and from `final_norm` on exist
/// once.
std::span<const TensorInfo> block_table();
/// The weights that a checkpoint has around its attention: of norms, MLP and router, and the end's tables.
std::span<const TensorInfo> block_weight_table();
/// What attention is given: what is not computed and is not of block_weight_table().
std::span<const TensorInfo> input_table();
bool is_stage(TensorId id);
/// By its name, for example "head_out"; nothing when there is no such tensor.
std::optional<TensorId> find_tensor(std::string_view name);
/// By its name among the stages alone, in block_table(), and in block_weight_table().
std::optional<TensorId> find_stage(std::string_view name);
std::optional<TensorId> find_block_stage(std::string_view name);
std::optional<TensorId> find_block_weight(std::string_view name);
bool is_block_stage(TensorId id);
bool is_block_weight(TensorId id);
bool is_of_layer(TensorId id); ///< not of what stands before the first layer or after the last one
/// Returns true if its rows are edited one by one: of W_E, W_P, W_type, W_R, W_U and of what the experts
/// have.
bool is_table(TensorId id);
bool is_score(TensorId id); ///< a number for each head, query and key: scores, scaled, masked, weights

/// Returns true if a problem with these parts has the tensor.
bool has_tensor(TensorId id, const ProblemParts& parts);

/// The number of a query or key head that a rotary position embedding turns together with number c: half a
/// head away.
inline std::int64_t rotary_partner(std::int64_t c, std::int64_t dk) {
    return c < dk / 2 ? c + dk / 2 : c - dk / 2;
}

/// The axis whose cells belong to heads.
struct HeadAxis {
    int axis = -1;          ///< -1: none does
    bool kv = false;        ///< key/value heads
    std::int64_t width = 1; ///< cells of that axis that each head has
};
HeadAxis head_axis(const TensorInfo& info, const Dims& dims);

} // namespace headscope
