#pragma once

#include "core/attention/graph_of_problem.h"
#include "core/base/progress.h"
#include "core/engine/vulkan/kernels.h"
#include "core/trace/trace.h"

#include <initializer_list>
#include <vector>

namespace headscope::vulkan {

/// Work, in FLOP, between two checks for cancellation: at most a tenth of a second on either kind of device.
double flops_at_once(const GpuInfo& info);
/// Throws Error(machine) because the keys of one head exceed one binding.
[[noreturn]] void fail_keys(const GpuInfo& info);
Scoring scoring_of(const Problem& problem, const MaskRows& mask);

/// One run on a device: uploads, kernels slab by slab, downloads. Afterwards the arena holds queries, keys
/// and row statistics.
class VulkanRun {
public:
    VulkanRun(const Problem& problem, StageSet wanted, Progress& progress, Gpu& gpu, Arena& arena,
              Kernels& kernels);

    /// Throws like VulkanEngine::run. The caller fills in the trace's device and time.
    Trace compute();

private:
    bool wants(TensorId id) const { return wanted_.has(id); }
    bool wants_any(std::initializer_list<TensorId> ids) const;
    Tensor& make(TensorId id);
    std::uint64_t rows_bytes(const Slab& slab, std::int64_t width) const;
    void plan(const Slab& slab);
    void reserve();
    void upload();
    void project(TensorId stage);
    void make_heads();
    template<class Take>
    void for_stored_rows(Slot slot, const Shape& heads, const Take& take);
    void download_heads(Slot slot, TensorId stage);
    void download_joined(Slot slot, TensorId stage, TensorId heads);
    void attend(const Slab& slab);
    void download_stage(Slot slot, TensorId stage, const Slab& slab, std::int64_t width);
    void add_to_mean(const Slab& slab);
    void project_output();
    void check_projections();
    void check_rows();
    [[noreturn]] void fail_score(TensorId stage, std::int64_t row_number);
    void list_masked_rows();
    std::vector<std::uint32_t> faults();
    template<class Number>
    void download(Slot slot, std::uint64_t first, std::span<Number> to) {
        gpu_.download(arena_.buffer(slot), first * sizeof(Number), std::as_writable_bytes(to));
    }

    const Problem& problem_;
    const Dims& d_;
    StageSet wanted_;
    Progress& progress_;
    Gpu& gpu_;
    Arena& arena_;
    Kernels& kernels_;
    MaskRows mask_;
    AttentionGraph graph_;
    Scoring scoring_;
    bool attends_;
    std::vector<Slab> slabs_;
    std::array<std::shared_ptr<Tensor>, tensor_count> tensors_;
    Trace trace_;
};

/// Recomputes a part of one of a head's rectangle_stages. Shape (rows, keys).
Tensor recompute(Gpu& gpu, Arena& arena, Kernels& kernels, const Scoring& scoring, TensorId stage,
                 const Slab& rows, std::int64_t first_key, std::int64_t keys);

} // namespace headscope::vulkan
