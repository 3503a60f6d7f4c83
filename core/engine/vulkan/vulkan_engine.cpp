#include "core/engine/vulkan/vulkan_engine.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/memory_need.h"
#include "core/engine/vulkan/run.h"
#include "core/tensor/free_buffers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

namespace headscope::vulkan {

namespace {

std::string megabytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

std::string detail_of(const GpuInfo& info) {
    if (!info.usable)
        return tr("vulkan_engine.too_old_headscope_needs",
                  "{}; too old: Headscope needs Vulkan 1.2 with a queue that computes", info.driver);
    const std::string kind = info.software  ? tr("vulkan_engine.software", "software")
                             : info.unified ? tr("vulkan_engine.integrated", "integrated")
                                            : tr("vulkan_engine.graphics_card", "graphics card");
    // Translators: the first {} is "software", "integrated" or "graphics card", the last names the driver
    return tr("vulkan_engine.memory_time_kib_shared",
              "{}, {} of memory, {} at a time, {} KiB shared, workgroups of {}, subgroups of {}, {}", kind,
              megabytes(info.memory_bytes), megabytes(info.binding_bytes), info.shared_bytes >> 10U,
              info.invocations, info.subgroup, info.driver);
}

} // namespace

/// The destructor frees buffers and kernels before the device.
struct VulkanEngine::State {
    State(std::size_t number, const VulkanOptions& options)
        : gpu(number, options), arena(gpu), kernels(gpu, arena, options.shared_tiles) {}

    Gpu gpu;
    Arena arena;
    Kernels kernels;
    std::mutex run_mutex; ///< locked during a run

private:
    void release() {
        if (const std::unique_lock idle(run_mutex, std::try_to_lock); idle)
            arena.release();
    }
    ReleasableCache buffers_{[this] { release(); }};
};

VulkanEngine::VulkanEngine(std::size_t number, const VulkanOptions& options)
    : number_(number), state_(std::make_unique<State>(number, options)) {}

VulkanEngine::~VulkanEngine() = default;

std::string device_name(std::size_t number) {
    return "vulkan:" + std::to_string(number);
}

std::string VulkanEngine::name() const {
    return device_name(number_);
}

Trace VulkanEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    validate(problem);
    if (problem.parts().gated)
        throw Error(ErrorKind::machine,
                    tr("vulkan_engine.no_gates",
                       "gates on head outputs are computed on the CPU alone; use --device cpu"));
    require_kernels(problem);
    engine::require_memory_for(problem, wanted);
    const std::scoped_lock working(state_->run_mutex);
    VulkanRun run(problem, wanted, progress, state_->gpu, state_->arena, state_->kernels);
    Trace trace = run.compute();
    trace.device = name();
    trace.computed = DirtySet::all(problem.dims.H, wanted & StageSet::of(problem.parts()));
    trace.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return trace;
}

std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options) {
    std::vector<VulkanDevice> found;
    for (const GpuInfo& info : list_gpus(options))
        found.push_back({info.name, detail_of(info), info.is_hardware, info.usable});
    return found;
}

} // namespace headscope::vulkan
