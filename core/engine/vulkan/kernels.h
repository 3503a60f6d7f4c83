#pragma once

#include "core/engine/vulkan/gpu.h"
#include "core/engine/vulkan/kernel_parameters.h"
#include "core/engine/vulkan/shaders.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::vulkan {

/// Records the kernels with tiles that suit the device's limits, and splits products that are too large for
/// one binding.
class Kernels {
public:
    /// Throws Error(machine) if the device's limits are too small for any tile. `share`: use shared memory
    /// even on a software device, where it saves no time.
    Kernels(Gpu& gpu, Arena& arena, bool share);

    void multiply(const Product& product);
    /// Operations without a kernel leave the numbers as they are.
    void make_head_rows(const HeadRows& rows, Slot slot);
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
