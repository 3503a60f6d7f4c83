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

struct TensorInfo;
/// How a row finds the cells that its cell `at` reads. Spans may name an input that stands for another.
using CellsRead = std::vector<ReadSpan> (*)(const TensorInfo& row, const Dims& dims, const Index& at,
                                            const ProblemParts& parts);

/// One row of the stage table.
struct TensorInfo {
    TensorId id;
    std::string_view name;    ///< in files, on the command line and in addresses: "q_heads"
    Message title;            ///< for people: "Attention weights"
    std::string_view symbol;  ///< in formulas: "Q"
    StageGroup group;         ///< where on the strip; of an input, where it is read first
    std::array<Axis, 4> axes; ///< outermost first, padded with Axis::none
    Operation operation;
    TensorList inputs;
    Message formula; ///< in row-vector convention; see formula_of
    Scale scale = Scale::values;
    bool stage = true;          ///< a trace holds it
    bool joins_heads = false;   ///< each head reads all heads of the first input
    ProblemPart when = nullptr; ///< null: every problem has it; else those with that part
    /// Read in its place where a problem has none.
    std::optional<TensorId> instead = {};
    /// The cells that one cell reads; see cells_read.
    CellsRead cells = nullptr;
    /// Of a stage that makes each head's rows, one by one, from those of its first input: what is done to a
    /// row, in a word.
    Message verb = {};

    int rank() const;
    Shape shape(const Dims& dims) const;
    std::span<const TensorId> reads() const { return inputs.all(); }
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
/// As the stage is computed in a problem with these parts.
const TensorInfo& tensor_info(TensorId id, ProblemParts parts);
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
bool is_block_weight(TensorId id);
bool is_of_layer(TensorId id); ///< not of what stands before the first layer or after the last one
/// Returns true if its rows are edited one by one: of W_E, W_P, W_type, W_R, W_U and of what the experts
/// have.
bool is_table(TensorId id);
bool is_score(TensorId id); ///< a number for each head, query and key: scores, scaled, masked, weights

/// Whether a problem with these parts has the tensor.
bool has_tensor(TensorId id, const ProblemParts& parts);
/// What is read where the table says `input`: the tensor itself, or what stands in its place.
TensorId source_of(TensorId input, const ProblemParts& parts);

/// The index map: which cells the cell `at` of a stage reads. Spans of a product come in pairs of equal
/// length, left factor first. The mask is addressed as (b, h, i, j). Inputs read nothing.
std::vector<ReadSpan> cells_read(TensorId stage, const Dims& dims, const Index& at,
                                 const ProblemParts& parts);

/// The formula of a stage as it is computed in a problem with these parts, in the person's language. In the
/// table, $ stands for the first input, head by head.
std::string formula_of(TensorId stage, const ProblemParts& parts);
/// From a projection to the rows of its heads: {q, q_heads} where nothing stands between.
std::vector<TensorId> steps_to(TensorId heads, const ProblemParts& parts);
/// Whether q_heads and k_heads hold the numbers of q and k unchanged.
bool heads_are_columns(const ProblemParts& parts);

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
