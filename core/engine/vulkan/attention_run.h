#pragma once

#include "core/base/progress.h"
#include "core/engine/vulkan/attention_nodes.h"
#include "core/engine/vulkan/kernels.h"
#include "core/tensor/tensor.h"

#include <array>
#include <string>
#include <vector>

namespace headscope::vulkan {

/// Work, in FLOP, between two checks for cancellation: at most a tenth of a second on either kind of device.
double flops_at_once(const GpuInfo& info);
/// Throws Error(machine) because the keys of one head exceed one binding.
[[noreturn]] void fail_keys(const GpuInfo& info);

/// The slots of queries, keys or values, in the order of AttentionNodes::heads.
struct HeadSlots {
    Slot heads, source, W, b, norm;
    Fault fault;
};
inline constexpr std::array head_slots{
    HeadSlots{slot_of(TensorId::q), slot_of(TensorId::x), slot_of(TensorId::W_Q), slot_of(TensorId::b_Q),
              slot_of(TensorId::q_norm), Fault::q},
    HeadSlots{slot_of(TensorId::k), slot_of(TensorId::x_kv), slot_of(TensorId::W_K), slot_of(TensorId::b_K),
              slot_of(TensorId::k_norm), Fault::k},
    HeadSlots{slot_of(TensorId::v), slot_of(TensorId::x_kv), slot_of(TensorId::W_V), slot_of(TensorId::b_V),
              slot_of(TensorId::v_norm), Fault::v}};

/// One attention of a run on a device: uploads, kernels slab by slab, downloads. Afterwards the arena holds
/// queries, keys and row statistics.
class AttentionRun {
public:
    /// All must outlive the object. The device must be free for it.
    AttentionRun(const graph::Graph& graph, const AttentionNodes& nodes, run::Values& values,
                 Progress& progress, Gpu& gpu, Arena& arena, Kernels& kernels);

    /// Throws what run::Kernel::compute throws, and Error(machine): before it allocates anything, if the
    /// device has too little memory; and if the device fails.
    void compute();

private:
    Tensor* out(TensorId id) const { return a_.stage(id) == no_node ? nullptr : values_.out(a_.stage(id)); }
    bool wants(TensorId id) const { return out(id) != nullptr; }
    const std::string& name_of(NodeId id) const { return graph_.node(id).name; }
    std::uint64_t rows_bytes(const Slab& slab, std::int64_t width) const;
    void plan(const Slab& slab);
    void reserve();
    void upload();
    void upload_heads(const HeadNodes& heads, Slot slot);
    void upload_masks();
    void make_heads(std::size_t n);
    void project(const HeadNodes& heads, std::size_t n);
    HeadRows rows_of(const HeadNodes& heads, const RowsNode& rows, std::size_t n) const;
    void download_heads(Slot slot, const HeadNodes& heads, NodeId node);
    void attend(const Slab& slab);
    void download_stage(Slot slot, TensorId stage, const Slab& slab, std::int64_t width);
    void add_to_mean(const Slab& slab);
    void project_output();
    void check_projections();
    [[noreturn]] void fail_projection(NodeId node, Slot slot, const HeadNodes& heads, std::int64_t stride,
                                      std::int64_t part);
    void check_rows();
    [[noreturn]] void fail_score(TensorId stage, std::int64_t row_number);
    void list_masked_rows();
    std::vector<std::uint32_t> faults();
    template<class Number>
    void download(Slot slot, std::uint64_t first, std::span<Number> to) {
        gpu_.download(arena_.buffer(slot), first * sizeof(Number), std::as_writable_bytes(to));
    }

    const graph::Graph& graph_;
    const AttentionNodes& a_;
    run::Values& values_;
    Progress& progress_;
    Gpu& gpu_;
    Arena& arena_;
    Kernels& kernels_;
    Dims d_;
    Scoring scoring_;
    std::vector<std::uint8_t> allowed_; ///< flags of the mask, in the kernels' format
    std::vector<Slab> slabs_;
    std::vector<NodeId> row_steps_; ///< recorded steps on rows of heads, by the number of their fault
};

/// Recomputes a part of one of a head's rectangle_stages. Shape (rows, keys).
Tensor recompute(Gpu& gpu, Arena& arena, Kernels& kernels, const Scoring& scoring, TensorId stage,
                 const Slab& rows, std::int64_t first_key, std::int64_t keys);

} // namespace headscope::vulkan
