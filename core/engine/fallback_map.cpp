#include "core/engine/fallback_map.h"

#include "core/base/error.h"
#include "core/base/memory.h"

#include <utility>

namespace headscope::engine {

FallbackMap::Current FallbackMap::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

FallbackMap::Current FallbackMap::fall_back(const std::string& reason, Progress& progress) const {
    const Current made{make_("cpu", progress), true, reason};
    const std::lock_guard lock(mutex_);
    current_ = made;
    return made;
}

template<class Ask>
std::invoke_result_t<Ask, const WeightsMap&> FallbackMap::with_fallback(Progress& progress,
                                                                        const Ask& ask) const {
    const std::lock_guard one_at_a_time(asking_);
    const Current asked = current();
    std::string reason;
    try {
        return ask(*asked.map);
    } catch (const MemoryShortage&) {
        throw; // the CPU would need the same memory
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::machine || asked.on_cpu)
            throw;
        reason = fault.what();
    }
    return ask(*fall_back(reason, progress).map);
}

FallbackMap::FallbackMap(const std::string& id, Make make, Progress& progress) : make_(std::move(make)) {
    try {
        current_.map = make_(id, progress);
    } catch (const MemoryShortage&) {
        throw;
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::machine)
            throw;
        current_ = fall_back(fault.what(), progress);
    }
    device_ = current_.map->device();
}

std::string FallbackMap::device() const {
    return current().on_cpu ? "cpu" : device_;
}

std::string FallbackMap::fallback_reason() const {
    return current().reason;
}

Tensor FallbackMap::pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                           Progress& progress) const {
    return with_fallback(progress,
                         [&](const WeightsMap& map) { return map.pooled(part, cells, pooling, progress); });
}

std::vector<MapBand> FallbackMap::bands(std::span<const std::int64_t> which, std::int64_t cells,
                                        Progress& progress) const {
    return with_fallback(progress, [&](const WeightsMap& map) { return map.bands(which, cells, progress); });
}

} // namespace headscope::engine
