#pragma once

#include "core/tensor/dims.h"
#include "core/tensor/shape.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headscope {

/// Every tensor that has a name on screen, in files and on the command line. First the stages, in the order
/// in which they are computed, then what the user owns.
enum class TensorId : std::uint8_t {
    x,
    q,
    k,
    v,
    q_heads,
    k_heads,
    v_heads,
    scores,
    scaled,
    masked,
    weights,
    weights_mean,
    head_out,
    concat,
    contributions,
    output,
    x_kv,
    W_Q,
    W_K,
    W_V,
    W_O,
    b_Q,
    b_K,
    b_V,
    b_O,
    mask,
    gain
};
inline constexpr int stage_count = 16;
inline constexpr int tensor_count = 27;
inline bool is_stage(TensorId id) {
    return static_cast<int>(id) < stage_count;
}

/// The stops of the stage strip. Stages that are understood together share one.
enum class StageGroup : std::uint8_t {
    x,
    qkv,
    split,
    scores,
    scaled,
    masked,
    weights,
    head_out,
    concat,
    contributions,
    output,
    none
};
inline constexpr int group_count = 11;

/// How one cell of a stage follows from the cells it reads.
enum class Operation : std::uint8_t {
    given,       ///< decided by the user
    projection,  ///< a row of one tensor times a column of another, plus a bias
    copy,        ///< the same number in another place (times a gain, in concat)
    dot_product, ///< q_i . k_j
    scale,       ///< divided by sqrt(dk) and the temperature
    mask,        ///< minus infinity where attention is not allowed, plus an additive mask
    softmax,     ///< exp(s - max) / sum over a row
    value_sum,   ///< weights times a column of V
    mean         ///< the average over heads
};

/// One row of the stage table.
struct TensorInfo {
    TensorId id;
    std::string_view name;    ///< in files, on the command line and in addresses: "q_heads"
    std::string_view title;   ///< for people: "Attention weights"
    std::string_view symbol;  ///< in formulas: "Q"
    StageGroup group;         ///< where on the strip; none for inputs
    std::array<Axis, 4> axes; ///< outermost first, padded with Axis::none
    Operation operation;
    std::array<TensorId, 4> inputs; ///< the first input_count are read
    int input_count;
    std::string_view formula; ///< in row-vector convention

    int rank() const;
    Shape shape(const Dims& dims) const;
    std::span<const TensorId> reads() const { return {inputs.data(), static_cast<std::size_t>(input_count)}; }
};

struct GroupInfo {
    StageGroup group;
    std::string_view label; ///< on the strip: "q k v"
    std::string_view title; ///< above the canvas
    TensorId main;          ///< the stage a walk stops at
};

const TensorInfo& tensor_info(TensorId id);
const GroupInfo& group_info(StageGroup group);
std::span<const TensorInfo> stage_table();
/// By its name, for example "head_out"; nothing when there is no such tensor.
std::optional<TensorId> find_tensor(std::string_view name);
/// By its name among the stages alone.
std::optional<TensorId> find_stage(std::string_view name);

/// A straight run of cells: `count` cells from `first` along `axis`.
struct ReadSpan {
    TensorId source;
    Index first;
    int axis;
    std::int64_t count;
};

/// The index map: which cells the cell `at` of a stage reads. Spans of a product come in pairs of equal
/// length, left factor first. In self-attention k and v read x; with `cross` they read x_kv. The mask is
/// addressed as (b, h, i, j). Inputs read nothing.
std::vector<ReadSpan> cells_read(TensorId stage, const Dims& dims, const Index& at, bool cross);

/// A set of stages, for asking an engine for some of them.
class StageSet {
public:
    constexpr StageSet() = default;
    static constexpr StageSet all() { return StageSet((1U << stage_count) - 1U); }
    constexpr StageSet with(TensorId id) const { return StageSet(bits_ | 1U << static_cast<unsigned>(id)); }
    constexpr bool has(TensorId id) const { return (bits_ >> static_cast<unsigned>(id) & 1U) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr StageSet operator|(StageSet other) const { return StageSet(bits_ | other.bits_); }
    constexpr StageSet operator&(StageSet other) const { return StageSet(bits_ & other.bits_); }
    constexpr bool operator==(const StageSet&) const = default;

private:
    constexpr explicit StageSet(std::uint32_t bits) : bits_(bits) {}
    std::uint32_t bits_ = 0;
};

} // namespace headscope
