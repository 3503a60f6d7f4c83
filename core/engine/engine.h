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

namespace headscope::engine {

/// Something that turns a problem into a trace. An engine is used by one thread at a time.
class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    /// As on the badge and in metadata: "cpu".
    virtual std::string name() const = 0;

    /// Computes the wanted stages. Throws Error(input) for an invalid problem (see validate) and for scores
    /// that leave float32's range; Error(cancelled) once progress is cancelled.
    virtual Trace run(const Problem& problem, StageSet wanted, Progress& progress) = 0;

    /// All stages again after an edit. An engine may take from `previous`, its own trace of `before`, what
    /// the edit cannot reach; the numbers are those of a run from scratch, bit for bit, and Trace::computed
    /// says what was computed. Throws what run throws.
    virtual Trace rerun(const Problem& problem, [[maybe_unused]] const Problem& before,
                        [[maybe_unused]] const Trace& previous, Progress& progress) {
        return run(problem, StageSet::all(), progress);
    }

    /// All stages, nothing to cancel.
    Trace run(const Problem& problem) {
        Progress progress;
        return run(problem, StageSet::all(), progress);
    }
};

/// One engine that this machine offers.
struct Device {
    std::string id;          ///< what --device takes: "cpu", "vulkan:0"
    std::string name = {};   ///< of the processor
    std::string detail = {}; ///< limits, in one line
    bool real = false;       ///< a graphics processor, not software that plays one
    bool usable = true;      ///< false: `detail` says what it lacks
};

struct DeviceList {
    std::vector<Device> devices; ///< the CPU first
    std::string missing;         ///< why there is no Vulkan device, in one sentence; empty when there is one
};

/// The processor. Touches no driver.
Device cpu_device();

/// What there is. Loads Vulkan for a moment, which takes some 20 ms and more: not for the thread that draws.
DeviceList devices();

/// What `auto` does here.
struct AutoChoice {
    std::string id;     ///< of the device that it takes for large work
    std::string reason; ///< "it is the only ..."
};
AutoChoice auto_choice(const DeviceList& found);

/// id: "auto", "cpu", "vulkan" (a graphics processor before software) or "vulkan:N". "auto" touches Vulkan
/// only once a run is large enough to gain. Throws Error(machine) naming what there is when there is no such
/// device.
std::unique_ptr<Engine> make_engine(const std::string& id);

/// What becomes of a map whose device fails: that is said, or the CPU makes it from then on.
enum class MapFailure : std::uint8_t { said, left_to_cpu };

/// The weights of head h in batch entry b, of any length, on the device that `id` names for make_engine.
/// "auto" takes a graphics processor for a map whose scores are as much work as such a run, and leaves it to
/// the CPU where that fails. Throws Error(input) for an invalid problem, for a head or entry that it has not
/// and for numbers beyond float32's range; MemoryShortage; Error(cancelled); and what make_engine throws.
std::unique_ptr<WeightsMap> make_map(const std::string& id, const Problem& problem, std::int64_t b,
                                     std::int64_t h, Progress& progress,
                                     MapFailure failure = MapFailure::said);

} // namespace headscope::engine
