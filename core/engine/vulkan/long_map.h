#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/engine/vulkan/vulkan_options.h"
#include "core/engine/weights_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::vulkan {

/// A device shared by maps: opened once for all maps that exist at the same time. Calls of different maps run
/// one after another. Any thread.
struct MapDevice;
/// number: index in vulkan_devices(). Throws Error(machine) if the device cannot be used.
std::shared_ptr<MapDevice> map_device(std::size_t number);
/// Opens the device separately, without sharing.
std::shared_ptr<MapDevice> map_device(std::size_t number, const VulkanOptions& options);

/// A map for sequences of any length: weights are computed on the device on demand and never all in memory at
/// once. Device memory: queries, keys and mask of the head, the softmax parameters of each row, and at most
/// some 100 MB for the data of a call. A fully masked row has weights 0. The softmax parameters of a row are
/// cached from its first read. If the device fails, the map must not be used again.
class LongMap final : public WeightsMap {
public:
    /// Head h of batch entry b. Throws Error(input) for an invalid problem, for an invalid head or entry and
    /// for numbers outside float32's range; Error(machine) if the device fails or has too little memory;
    /// MemoryShortage; Error(cancelled).
    LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
            std::shared_ptr<MapDevice> device, Progress& progress);
    ~LongMap() override;

    /// Reads all keys for rows that no call has read before, and only the keys of the part for the others.
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    /// One pass over the scores of the rows.
    std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                               Progress& progress) const override;

    std::string device() const override;
    std::int64_t rows() const override { return dims_.Tq; }
    std::int64_t cols() const override { return dims_.Tk; }

private:
    struct State;
    Dims dims_;
    std::unique_ptr<State> state_;
};

} // namespace headscope::vulkan
