#pragma once

#include "core/engine/weights_map.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace headscope::engine {

/// A map of a device, and of the CPU from the moment on at which the machine fails the device.
class SureMap final : public WeightsMap {
public:
    /// By an id that make_engine takes; "cpu" too.
    using Make = std::function<std::unique_ptr<WeightsMap>(const std::string& id, Progress& progress)>;
    SureMap(const std::string& id, Make make, Progress& progress);

    std::string device() const override { return on_cpu_ ? "cpu" : device_; }
    std::string fallen() const override { return on_cpu_ ? fallen_ : ""; }
    std::int64_t rows() const override { return map_->rows(); }
    std::int64_t cols() const override { return map_->cols(); }
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                               Progress& progress) const override;

private:
    template<class Ask>
    std::invoke_result_t<Ask> answer(Progress& progress, const Ask& ask) const;

    Make make_;
    mutable std::unique_ptr<WeightsMap> map_;
    std::string device_;         ///< of the first
    mutable std::string fallen_; ///< before on_cpu_ is
    mutable std::atomic<bool> on_cpu_ = false;
};

} // namespace headscope::engine
