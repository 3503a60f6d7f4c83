#include "core/engine/auto_backend.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/engine/vulkan/attention_nodes.h"
#include "core/run/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::engine {

namespace {

/// Computes a step on a device, or on the CPU once the device has failed.
class FallbackKernel final : public run::Kernel {
public:
    FallbackKernel(const graph::Graph& graph, std::vector<run::NodeId> nodes,
                   std::unique_ptr<const run::Kernel> kernel, std::shared_ptr<bool> failed)
        : graph_(graph), nodes_(std::move(nodes)), kernel_(std::move(kernel)), failed_(std::move(failed)) {
        for (const run::NodeId id : nodes_)
            for (const graph::Reading& input : graph_.node(id).inputs)
                if (std::ranges::find(nodes_, input.node) == nodes_.end() &&
                    std::ranges::find(inputs_, input.node) == inputs_.end())
                    inputs_.push_back(input.node);
    }

    void compute(run::Values& values, Progress& progress) const override {
        if (!*failed_)
            try {
                return kernel_->compute(values, progress);
            } catch (const MemoryShortage&) {
                throw; // the CPU would store the same nodes
            } catch (const Error& fault) {
                if (fault.kind() != ErrorKind::machine)
                    throw;
                *failed_ = true;
            }
        compute_on_cpu(values, progress);
    }

private:
    void compute_on_cpu(run::Values& values, Progress& progress) const {
        cpu::CpuBackend cpu(cpu::make_cpu_machine());
        std::vector<graph::Part> captures;
        for (const run::NodeId id : nodes_)
            if (values.out(id) != nullptr)
                captures.push_back({graph_.node(id).name});
        run::Leaves leaves{.by_node = std::vector<TensorPtr>(graph_.nodes().size()), .source = nullptr};
        for (const run::NodeId id : inputs_)
            leaves.by_node[static_cast<std::size_t>(id)] = values.owner(id);
        const Progress::Part whole = progress.part();
        progress.set_part(std::lerp(whole.from, whole.to, values.progress_begin),
                          std::lerp(whole.from, whole.to, values.progress_end));
        const auto plan =
            std::make_shared<const run::Plan>(graph_, captures, run::NodeInterventions(), cpu, inputs_);
        const run::RunPtr run = run::run(plan, std::move(leaves), {}, nullptr, progress);
        progress.set_part(whole.from, whole.to);
        for (const run::NodeId id : nodes_)
            if (Tensor* const out = values.out(id); out != nullptr)
                std::ranges::copy(run->tensor(id)->values(), out->data());
        const std::vector<run::EmptyRow>& empty = run->empty_rows();
        values.empty_rows.insert(values.empty_rows.end(), empty.begin(), empty.end());
    }

    graph::Graph graph_;
    std::vector<run::NodeId> nodes_, inputs_;
    std::unique_ptr<const run::Kernel> kernel_;
    std::shared_ptr<bool> failed_;
};

bool has_large_attention(const run::Needs& needs) {
    const std::vector<vulkan::AttentionNodes> attentions = vulkan::find_attentions(needs);
    return std::ranges::any_of(attentions, [](const vulkan::AttentionNodes& attention) {
        return attention.attends() && vulkan::flops_of(attention) >= min_gpu_flops;
    });
}

} // namespace

AutoBackend::AutoBackend(std::unique_ptr<run::Backend> cpu,
                         std::function<std::unique_ptr<run::Backend>()> gpu)
    : cpu_(std::move(cpu)), make_gpu_(std::move(gpu)) {}

std::string AutoBackend::name() const {
    return gpu_ == nullptr || *failed_ ? run::cpu_device : gpu_->name();
}

/// Returns null if there is no working graphics processor.
run::Backend* AutoBackend::gpu() {
    if (*failed_)
        gpu_ = nullptr;
    if (const auto make = std::exchange(make_gpu_, nullptr))
        try {
            gpu_ = make();
        } catch (const Error&) {
            gpu_ = nullptr; // falls back to the CPU
        }
    return gpu_.get();
}

std::vector<run::Step> AutoBackend::steps_after(std::vector<run::Step> first, const run::Needs& needs) {
    run::Backend* const fast = has_large_attention(needs) ? gpu() : nullptr;
    if (fast == nullptr)
        return cpu_->steps_after(std::move(first), needs);
    std::vector<run::Step> steps = fast->steps_after(std::move(first), needs);
    for (run::Step& step : steps)
        if (step.device != run::cpu_device)
            step.kernel =
                std::make_unique<FallbackKernel>(needs.graph(), step.nodes, std::move(step.kernel), failed_);
    return steps;
}

void AutoBackend::finish() {
    cpu_->finish();
    if (gpu_ != nullptr)
        gpu_->finish();
}

void AutoBackend::release() {
    cpu_->release();
    if (gpu_ != nullptr)
        gpu_->release();
}

} // namespace headscope::engine
