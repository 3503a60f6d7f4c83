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
#include <optional>

namespace headscope::vulkan {

namespace {

std::string megabytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

std::string detail_of(const GpuInfo& info) {
    if (!info.usable)
        return tr("{}; too old: Headscope needs Vulkan 1.2 with a queue that computes", info.driver);
    const std::string kind = info.software  ? tr("software")
                             : info.unified ? tr("integrated")
                                            : tr("graphics card");
    // Translators: the first {} is "software", "integrated" or "graphics card", the last names the driver
    return tr("{}, {} of memory, {} at a time, {} KiB shared, workgroups of {}, subgroups of {}, {}", kind,
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
    std::optional<Scoring> last; ///< scoring of the run whose queries, keys and statistics the arena holds
    std::mutex at_work;          ///< held by a run

private:
    void release() {
        if (const std::unique_lock idle(at_work, std::try_to_lock); idle) {
            last.reset();
            arena.release();
        }
    }
    KeptForNextRun buffers_{[this] { release(); }};
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
    engine::require_memory_for(problem, wanted);
    const std::scoped_lock working(state_->at_work);
    state_->last.reset();
    VulkanRun run(problem, wanted, progress, state_->gpu, state_->arena, state_->kernels);
    Trace trace = run.compute();
    if (run.attended())
        state_->last = run.scoring();
    trace.device = name();
    trace.computed = DirtySet::all(problem.dims.H, wanted & StageSet::of(problem.parts()));
    trace.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return trace;
}

Tensor VulkanEngine::rectangle(TensorId stage, const Rectangle& part) {
    if (std::ranges::find(rectangle_stages, stage) == rectangle_stages.end())
        throw Error(ErrorKind::internal, "only scores, scaled, masked and weights are made of rectangles");
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t all) {
        return first >= 0 && count >= 1 && first <= all - count;
    };
    const std::scoped_lock working(state_->at_work);
    if (!state_->last)
        throw Error(ErrorKind::internal, "no run has left queries and keys to recompute a rectangle from");
    const Dims& d = state_->last->dims;
    if (!inside(part.b, 1, d.B) || !inside(part.h, 1, d.H) || !inside(part.first_row, part.rows, d.Tq) ||
        !inside(part.first_key, part.keys, d.Tk))
        throw Error(ErrorKind::internal, "the rectangle does not lie within the problem that ran last");
    return recompute(state_->gpu, state_->arena, state_->kernels, *state_->last, stage,
                     {.b = part.b, .h = part.h, .row = part.first_row, .rows = part.rows}, part.first_key,
                     part.keys);
}

std::vector<VulkanDevice> vulkan_devices(const VulkanOptions& options) {
    std::vector<VulkanDevice> found;
    for (const GpuInfo& info : list_gpus(options))
        found.push_back({info.name, detail_of(info), info.real, info.usable});
    return found;
}

} // namespace headscope::vulkan
