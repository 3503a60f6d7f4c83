#pragma once

#include "core/base/progress.h"
#include "core/tensor/map_part.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope {

/// The value of a pixel: the largest or the mean of its weights.
enum class Pooling : std::uint8_t { max, mean };

/// One row of pixels of an overview, which covers `cells` queries: the largest and the mean weight of each
/// run of `cells` keys. The last run, and the last row, may cover fewer. Both values are NaN if a weight of
/// the pixel is not finite.
struct MapBand {
    std::vector<float> largest, mean;
};

/// The number of pixels for `count` weights at `step` weights per pixel; the last pixel may cover fewer.
constexpr std::int64_t divide_rounding_up(std::int64_t count, std::int64_t step) {
    return (count + step - 1) / step;
}

/// Throws Error(input) if the part is empty or exceeds a map of these sizes.
void check_part(std::int64_t rows, std::int64_t cols, const MapPart& part);
/// Throws MemoryShortage if so many numbers do not fit into memory; `advice` says how to reduce their number.
void require_map_memory(std::uint64_t numbers, const std::string& advice);

/// A downsampled map of attention weights.
struct Overview {
    Tensor pixels;          ///< (ceil(Tq / cells), ceil(Tk / cells))
    std::int64_t cells = 1; ///< weights per side of a pixel; the last row and column may have fewer
};

/// The attention weights (Tq, Tk) of one head, computed or read on demand. For one thread at a time.
class WeightsMap {
public:
    WeightsMap() = default;
    WeightsMap(const WeightsMap&) = delete;
    WeightsMap& operator=(const WeightsMap&) = delete;
    virtual ~WeightsMap() = default;

    /// The device that computes the weights, as on the badge. Any thread.
    virtual std::string device() const { return "cpu"; }
    /// The reason, in one sentence, why the CPU replaced the requested device; empty if it did not. Any
    /// thread.
    virtual std::string fallback_reason() const { return ""; }
    virtual std::int64_t rows() const = 0;
    virtual std::int64_t cols() const = 0;
    /// Shape (part.rows / cells, part.cols / cells), rounded up: each pixel covers cells x cells weights, or
    /// fewer at the last row and column of the part. cells = 1: the weights themselves; otherwise a pixel
    /// with a weight that is not finite is NaN. Throws Error(input) if the part exceeds the map or the
    /// weights cannot be computed or read; MemoryShortage; Error(cancelled).
    virtual Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                          Progress& progress) const = 0;
    /// Returns one band for each element of `which`. Row p of pixels covers the queries [p cells, (p + 1)
    /// cells). Throws the same.
    virtual std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                                       Progress& progress) const = 0;

    /// The weights themselves: pooled() with cells = 1.
    Tensor rectangle(const MapPart& part, Progress& progress) const {
        return pooled(part, 1, Pooling::max, progress);
    }
    /// The whole map with at most `most` >= 1 pixels per side. Throws the same.
    Overview overview(std::int64_t most, Pooling pooling, Progress& progress) const;
};

} // namespace headscope
