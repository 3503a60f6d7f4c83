#include "core/engine/vulkan/graph_backend.h"

#include "core/engine/vulkan/attention_run.h"
#include "core/engine/vulkan/devices.h"
#include "core/tensor/free_buffers.h"

#include <mutex>
#include <utility>

namespace headscope::vulkan {

/// The destructor frees buffers and kernels before the device.
struct VulkanBackend::Device {
    Device(std::size_t number, const VulkanOptions& options)
        : gpu(number, options), arena(gpu), kernels(gpu, arena, options.shared_tiles) {}

    /// Frees the buffers, unless a run uses them.
    void release() {
        if (const std::unique_lock idle(run_mutex, std::try_to_lock); idle)
            arena.release();
    }

    Gpu gpu;
    Arena arena;
    Kernels kernels;
    std::mutex run_mutex; ///< locked during a run

private:
    ReleasableCache buffers_{[this] { release(); }};
};

namespace {

class AttentionKernel final : public run::Kernel {
public:
    AttentionKernel(const graph::Graph& graph, AttentionNodes nodes,
                    std::shared_ptr<VulkanBackend::Device> device)
        : graph_(graph), nodes_(std::move(nodes)), device_(std::move(device)) {}

    void compute(run::Values& values, Progress& progress) const override {
        const std::scoped_lock working(device_->run_mutex);
        AttentionRun(graph_, nodes_, values, progress, device_->gpu, device_->arena, device_->kernels)
            .compute();
    }

private:
    graph::Graph graph_;
    AttentionNodes nodes_;
    std::shared_ptr<VulkanBackend::Device> device_;
};

} // namespace

VulkanBackend::VulkanBackend(std::size_t number, std::unique_ptr<run::Backend> rest,
                             const VulkanOptions& options)
    : name_(device_name(number)), device_(std::make_shared<Device>(number, options)), rest_(std::move(rest)) {
}

VulkanBackend::~VulkanBackend() = default;

std::vector<run::Step> VulkanBackend::steps_after(std::vector<run::Step> first, const run::Needs& needs) {
    for (AttentionNodes& attention : find_attentions(needs)) {
        std::vector<NodeId> nodes = attention.computed();
        first.push_back(
            {.nodes = std::move(nodes),
             .kernel = std::make_unique<AttentionKernel>(needs.graph(), std::move(attention), device_),
             .device = name_,
             .reads_all = true});
    }
    return rest_->steps_after(std::move(first), needs);
}

void VulkanBackend::release() {
    device_->release();
    rest_->release();
}

} // namespace headscope::vulkan
