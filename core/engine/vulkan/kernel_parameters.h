#pragma once

#include "core/attention/mask.h"
#include "core/engine/vulkan/arena.h"
#include "core/graph/op.h"
#include "core/tensor/dims.h"
#include "core/trace/tensor_id.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::vulkan {

// The parameters of the kernels.

/// Kinds of numbers outside float32's range. For each kind, a kernel records the smallest index of an
/// affected row, or of a part of a product.
enum class Fault : std::uint32_t {
    score,
    scaled,
    masked,
    value,
    q,
    k,
    v,
    output,
    contributions,
    head_rows ///< the first of the faults of steps on rows of heads
};
inline constexpr std::uint32_t most_row_steps = 16; ///< of queries, keys and values together
inline constexpr std::uint32_t fault_count = static_cast<std::uint32_t>(Fault::head_rows) + most_row_steps,
                               no_fault = 0xFFFFFFFFU;

/// Y = X W + b for a stack of matrices; offsets, steps and strides count numbers. The columns of Y are stored
/// in blocks of width y_width; y_block is the distance between blocks.
struct Product {
    Slot x;
    std::uint64_t x_at = 0, x_step = 0, x_stride = 0;
    Slot W;
    std::uint64_t w_at = 0, w_step = 0, w_stride = 0;
    Slot bias = Slot::nothing;
    std::uint64_t b_at = 0;
    Slot y;
    std::uint64_t y_at = 0, y_step = 0, y_stride = 0, y_width = 0, y_block = 0;
    std::uint64_t stack = 1, rows = 0, cols = 0, depth = 0;
    Fault fault;
    std::uint64_t row_at = 0, row_step = 0; ///< index of the first row, and the step from matrix to matrix
    std::uint64_t part_rows = 1,
                  blocks = 1;   ///< a part is `part_rows` rows of one of `blocks` blocks of columns
    std::uint64_t block_at = 0; ///< index of the first block
    bool accumulate = false;
    float limit = 0; ///< Y is clamped to [-limit, limit]; 0: no limit
};

/// The parameters of the scores, in addition to q and k.
struct Scoring {
    Dims dims;
    std::int64_t before = 0, after = 0;
    bool has_allowed = false, has_add = false, has_sink = false;
    MaskRows::Strides allowed, add;
    float scale = 1; ///< sqrt(dk) times the temperature
    float cap = 0;   ///< of the scaled scores; 0: none
};

/// A step on the rows of all heads, in place in a slot.
struct HeadRows {
    graph::Op op{};
    std::string_view name; ///< in messages
    float eps = 0;         ///< of a norm
    std::int64_t B = 1, heads = 1, T = 1, width = 1;
    /// Weights of a norm, (width) or (heads width), or cosines and sines, (B or 1, T, width).
    struct Table {
        Slot slot = Slot::nothing;
        std::int64_t entries = 1, cells = 1; ///< of the batch that it has, and numbers of each
    };
    std::array<Table, 2> tables{};
    std::uint32_t fault = 0; ///< its number among the steps of the run, below most_row_steps
};

/// Rows of heads of batch entries. A slab with more than one head has all rows; a slab with more than one
/// entry has all heads.
struct Slab {
    std::int64_t b = 0, entries = 1, h = 0, heads = 1, row = 0, rows = 1;
};

/// Keys [col, end) of a part of one head's map, in pixels of `cells` keys, each read in runs of `length`
/// keys.
struct Runs {
    std::int64_t col = 0, end = 0, cells = 1, length = 1;
    std::int64_t first = 0, pixels = 0; ///< the visible pixels

    std::int64_t per_pixel() const { return (cells + length - 1) / length; }
    std::int64_t count() const { return pixels * per_pixel(); } ///< of visible runs
};

/// The destination of a slab's pooled runs: rows of pixels of Runs::cells queries, each `width` pixels wide.
struct PixelRows {
    std::int64_t first_row = 0, width = 0; ///< index of the slab's first row among the pooled rows
    std::int64_t first = 0;                ///< row of pixels that contains pooled row 0
};

/// The stored width: `width` rounded up to a multiple of 4.
constexpr std::int64_t padded(std::int64_t width) {
    return (width + 3) / 4 * 4;
}

/// The stages of shape (Tq, Tk), in the order in which rectangle.comp numbers them.
inline constexpr std::array rectangle_stages{TensorId::scores, TensorId::scaled, TensorId::masked,
                                             TensorId::weights};

} // namespace headscope::vulkan
