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

/// A device as maps share it: opened once for all of them that live at the same time. Each of their calls
/// waits for those of the others. Any thread.
struct MapDevice;
/// number: index in vulkan_devices(). Throws Error(machine) when the device cannot be used.
std::shared_ptr<MapDevice> map_device(std::size_t number);
/// One of its own.
std::shared_ptr<MapDevice> map_device(std::size_t number, const VulkanOptions& options);

/// Of any length: weights are made on the device where they are asked for and never held together. Memory of
/// the device: queries, keys and mask of the head, the softmax of each row, and at most some 100 MB for what
/// a call reads. A row that may attend to nothing has weights 0. A row's softmax is kept as it was found
/// first. When the device fails, the map must not be used again.
class LongMap final : public WeightsMap {
public:
    /// Head h of batch entry b. Throws Error(input) for an invalid problem, for a head or entry that it has
    /// not and for numbers beyond float32's range; Error(machine) when the device fails or has too little
    /// memory; MemoryShortage; Error(cancelled).
    LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
            std::shared_ptr<MapDevice> device, Progress& progress);
    ~LongMap() override;

    /// Reads all keys of the rows that no call has read before, and for the others those of the part alone.
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
