#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope {
class WeightsMap;
}
namespace headscope::run {
class Backend;
}

namespace headscope::engine {

/// Computes the trace of a problem. Used by one thread at a time.
class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    /// The name on the badge and in metadata: "cpu".
    virtual std::string name() const = 0;

    /// Computes the wanted stages. Throws Error(input) for an invalid problem (see validate) and for scores
    /// outside float32's range; Error(cancelled) once progress is cancelled.
    virtual Trace run(const Problem& problem, StageSet wanted, Progress& progress) = 0;

    /// Computes all stages after an edit. An engine may copy from `previous`, its own trace of `before`, the
    /// numbers that the edit does not affect. The result equals that of a run from scratch, bit for bit, and
    /// Trace::computed lists the recomputed stages. Throws what run throws.
    virtual Trace rerun(const Problem& problem, [[maybe_unused]] const Problem& before,
                        [[maybe_unused]] const Trace& previous, Progress& progress) {
        return run(problem, StageSet::all(), progress);
    }

    /// Computes all stages, without cancellation.
    Trace run(const Problem& problem) {
        Progress progress;
        return run(problem, StageSet::all(), progress);
    }
};

/// A device of this machine that can compute.
struct Device {
    std::string id;           ///< the value of --device: "cpu", "vulkan:0"
    std::string name = {};    ///< of the processor
    std::string detail = {};  ///< limits, in one line
    bool is_hardware = false; ///< a graphics processor, not a software emulation
    bool usable = true;       ///< false: `detail` says what it lacks
};

struct DeviceList {
    std::vector<Device> devices;  ///< the CPU first
    std::string no_vulkan_reason; ///< why there is no Vulkan device, in one sentence; empty if there is one
};

/// The CPU as a device. Loads no driver.
Device cpu_device();

/// All devices of this machine. Loads Vulkan briefly, which takes 20 ms or more: do not call it on the thread
/// that draws.
DeviceList devices();

/// The decision of `auto` on this machine.
struct AutoChoice {
    std::string id;     ///< the device that it uses for large work
    std::string reason; ///< "it is the only ..."
};
AutoChoice auto_choice(const DeviceList& found);

/// id: "auto", "cpu", "vulkan" (a graphics processor is preferred to software) or "vulkan:N". "auto" loads
/// Vulkan only when a run is large enough to benefit. Throws Error(machine), which lists the available
/// devices, if there is no such device.
std::unique_ptr<Engine> make_engine(const std::string& id);

/// The same devices for runs of graphs. Throws what make_engine throws.
std::unique_ptr<run::Backend> make_backend(const std::string& id);

/// The reaction to a device error in a map: the error is thrown, or the CPU computes the map from then on.
enum class MapErrorPolicy : std::uint8_t { throw_error, fall_back_to_cpu };

/// The attention weights of head h in batch entry b, for sequences of any length, on the device that `id`
/// names in make_engine. "auto" uses a graphics processor if the scores are as much work as a large run, and
/// falls back to the CPU if that fails. Throws Error(input) for an invalid problem, for an invalid head or
/// entry and for numbers outside float32's range; MemoryShortage; Error(cancelled); and what make_engine
/// throws.
std::unique_ptr<WeightsMap> make_map(const std::string& id, const Problem& problem, std::int64_t b,
                                     std::int64_t h, Progress& progress,
                                     MapErrorPolicy failure = MapErrorPolicy::throw_error);

} // namespace headscope::engine
