#pragma once

#include "core/base/progress.h"
#include "core/tensor/map_part.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope {

/// What a pixel shows of the weights that it stands for.
enum class Pooling : std::uint8_t { max, mean };

/// One row of pixels of an overview: of each run of `cells` keys the largest weight and the mean weight, over
/// `cells` queries. The last run, and the last row, may have fewer. Both are NaN where a weight under the
/// pixel is no finite number.
struct MapBand {
    std::vector<float> largest, mean;
};

/// How many pixels of `step` weights, the last perhaps of fewer, so many weights take.
constexpr std::int64_t in_steps(std::int64_t count, std::int64_t step) {
    return (count + step - 1) / step;
}

/// Throws Error(input) when the part is empty or leaves a map of these sizes.
void check_part(std::int64_t rows, std::int64_t cols, const MapPart& part);
/// Throws MemoryShortage when a map has no room for so many numbers; `advice` says how to need fewer.
void require_map_memory(std::uint64_t numbers, const std::string& advice);

/// A map of weights made smaller.
struct Overview {
    Tensor pixels; ///< (ceil(Tq / cells), ceil(Tk / cells))
    std::int64_t cells =
        1; ///< a pixel stands for cells x cells weights, at the last row and column for fewer
};

/// The attention weights (Tq, Tk) of one head, made or read where they are asked for. For one thread at a
/// time.
class WeightsMap {
public:
    WeightsMap() = default;
    WeightsMap(const WeightsMap&) = delete;
    WeightsMap& operator=(const WeightsMap&) = delete;
    virtual ~WeightsMap() = default;

    /// What makes the weights, as on the badge. Any thread.
    virtual std::string device() const { return "cpu"; }
    /// Why the CPU took over from the device that was asked for, in one sentence; empty: it did not. Any
    /// thread.
    virtual std::string fallen() const { return ""; }
    virtual std::int64_t rows() const = 0;
    virtual std::int64_t cols() const = 0;
    /// (part.rows / cells, part.cols / cells), rounded up: each pixel stands for cells x cells weights, at
    /// the last row and column of the part for fewer. cells = 1: the weights themselves; else a pixel with a
    /// weight that is no finite number is NaN. Throws Error(input) when the part leaves the map or the
    /// weights cannot be made or read; MemoryShortage; Error(cancelled).
    virtual Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                          Progress& progress) const = 0;
    /// Row p of pixels stands for the queries [p cells, (p + 1) cells). One band for each of `which`. Throws
    /// likewise.
    virtual std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                                       Progress& progress) const = 0;

    /// The weights themselves: pooled() with cells = 1.
    Tensor rectangle(const MapPart& part, Progress& progress) const {
        return pooled(part, 1, Pooling::max, progress);
    }
    /// The whole map with at most `most` >= 1 pixels a side. Throws likewise.
    Overview overview(std::int64_t most, Pooling pooling, Progress& progress) const;
};

} // namespace headscope
