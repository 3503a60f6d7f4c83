#pragma once

#include "core/engine/weights_map.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

namespace headscope::engine {

/// Computes on a device and falls back to the CPU after a device error. Any thread may use every member:
/// pooled() and bands() wait for each other, because a map serves one thread at a time.
class FallbackMap final : public WeightsMap {
public:
    /// Creates a map on the device with an id of make_engine; "cpu" is included.
    using Make = std::function<std::unique_ptr<WeightsMap>(const std::string& id, Progress& progress)>;
    FallbackMap(const std::string& id, Make make, Progress& progress);

    std::string device() const override;
    std::string fallback_reason() const override;
    std::int64_t rows() const override { return current().map->rows(); }
    std::int64_t cols() const override { return current().map->cols(); }
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                               Progress& progress) const override;

private:
    /// The map in use and the reason for a fallback. Always replaced as a whole.
    struct Current {
        std::shared_ptr<const WeightsMap> map;
        bool on_cpu = false;
        std::string reason; ///< empty on the device
    };
    Current current() const;
    /// Replaces the map by the CPU's. For the thread that holds asking_, and for the constructor.
    Current fall_back(const std::string& reason, Progress& progress) const;
    template<class Ask>
    std::invoke_result_t<Ask, const WeightsMap&> with_fallback(Progress& progress, const Ask& ask) const;

    Make make_;
    mutable std::mutex asking_; ///< locked while a map computes; never by the window's queries
    mutable std::mutex mutex_;  ///< guards current_; locked only briefly, also inside asking_
    mutable Current current_;
    std::string device_; ///< of the first map
};

} // namespace headscope::engine
