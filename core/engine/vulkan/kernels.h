#pragma once

#include "core/attention/graph_of_problem.h"
#include "core/engine/vulkan/arena.h"
#include "core/engine/vulkan/shaders.h"
#include "core/tensor/dims.h"
#include "core/trace/stage.h"

#include <array>
#include <map>
#include <utility>

namespace headscope::vulkan {

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
    head_rows ///< the first of the faults of per-head stages, one for each tensor
};
inline constexpr std::uint32_t fault_count = static_cast<std::uint32_t>(Fault::head_rows) + tensor_count,
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
    float cap = 0;   ///< Problem::score_cap
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

/// Records the kernels with tiles that suit the device's limits, and splits products that are too large for
/// one binding.
class Kernels {
public:
    /// Throws Error(machine) if the device's limits are too small for any tile. `share`: use shared memory
    /// even on a software device, where it saves no time.
    Kernels(Gpu& gpu, Arena& arena, bool share);

    void multiply(const Product& product);
    /// Computes the rows of `stage` from those of its input, in place in the slot of q, k or v.
    void make_head_rows(const Problem& problem, const AttentionGraph& graph, TensorId stage, Slot slot);
    /// Returns true if one dispatch can compute the slab.
    bool fits(const Scoring& scoring, const Slab& slab) const;
    /// Computes head_out, concat and the statistics of a slab's rows.
    void attend(const Scoring& scoring, const Slab& slab);
    /// Computes one of rectangle_stages for the slab's rows and some keys. The result, (entries, heads, rows,
    /// keys), starts at the beginning of slot `to`.
    void rectangle(const Scoring& scoring, const Slab& slab, TensorId stage, std::int64_t first_key,
                   std::int64_t keys, Slot to);

    // The functions below are for problems of one head. read_runs computes the runs of a slab's rows, (runs,
    // rows); the others use them.
    void read_runs(const Scoring& scoring, const Slab& slab, const Runs& runs);
    /// Computes the statistics of the rows from runs of all their keys.
    void find_softmax(const Scoring& scoring, const Slab& slab, const Runs& runs, float sink);
    /// Updates the pixels of rows with known statistics: the largest weight, and the sum.
    void pool_runs(const Scoring& scoring, const Slab& slab, const Runs& runs, const PixelRows& to);

private:
    struct Push;
    using Constants = std::vector<std::uint32_t>;
    const GpuKernel& kernel(std::string_view shader, std::uint32_t bindings, const Constants& constants);
    void multiply_at_once(const Product& product);
    /// The number of keys, with the data that is read with each, that fit into shared memory at a time.
    std::uint32_t keys_in_shared(std::uint32_t quads_of_key) const;
    template<class Fill>
    void dispatch_runs(std::string_view shader, const Scoring& scoring, const Slab& slab, const Runs& runs,
                       const Constants& constants, GpuGroups groups, const Fill& fill);
    /// Fills the part of `push` that attend and rectangle share; returns bindings 0 to 5.
    std::vector<GpuBinding> common(const Scoring& scoring, const Slab& slab, Push& push) const;

    Gpu& gpu_;
    Arena& arena_;
    std::uint32_t share_;   ///< 1: tiles are read through shared memory
    std::uint32_t side_;    ///< side of the square of invocations that computes a matrix tile
    std::uint32_t each_;    ///< side of the square of numbers that each invocation computes
    std::uint32_t threads_; ///< query rows in a workgroup of `attend`
    std::map<std::pair<std::string_view, Constants>, GpuKernel> compiled_; ///< the names are static
};

} // namespace headscope::vulkan
