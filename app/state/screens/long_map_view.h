#pragma once

#include "core/engine/weights_map.h"

#include <array>
#include <cstdint>
#include <optional>

namespace headscope::app {

/// The pass over all weights of a long map.
enum class MapReading : std::uint8_t { on, paused, off };

/// How a long map is looked at.
struct LongMapView {
    /// A pixel stands for 2^scale x 2^scale weights; below 0 a weight has 2^-scale pixels a side. None: the
    /// whole map, as large as there is room.
    std::optional<int> scale;
    double row = 0, col = 0;         ///< in the middle of the room, in weights; where `scale` is set
    float width = 560, height = 480; ///< of the room, in logical pixels; the window says it
    Pooling pooling = Pooling::max;
    bool linear = false; ///< colours by the weight instead of its logarithm
    MapReading reading = MapReading::on;
    std::optional<MapPart> selected = {};                        ///< a weight, or the weights under a pixel
    std::optional<std::array<std::int64_t, 2>> under_mouse = {}; ///< query and key
    bool operator==(const LongMapView&) const = default;
};

/// What of a map is seen.
struct MapSight {
    int scale = 0; ///< of what is drawn; the whole map is drawn up to twice as large, to fill its room
    double top = 0, left = 0; ///< the weights at the upper left corner of the room; below 0 beside the map
    double pixels = 1;        ///< of one weight

    /// Pixels from the room's left edge to the left edge of a column, or from its top to a row.
    float x(double col) const { return static_cast<float>((col - left) * pixels); }
    float y(double row) const { return static_cast<float>((row - top) * pixels); }
};
/// A map that is smaller than the room stands in its middle; else the room is filled.
MapSight sight_of(const LongMapView& view, std::int64_t rows, std::int64_t cols);
/// The part of the map that the room shows; of at least one weight.
MapPart seen_part(const LongMapView& view, std::int64_t rows, std::int64_t cols);

inline constexpr int nearest_scale = -6; ///< a weight of 64 x 64 pixels
inline constexpr int reading_scale = -5; ///< at which a spot is shown
/// The scale at which the whole map fits.
int whole_scale(const LongMapView& view, std::int64_t rows, std::int64_t cols);

} // namespace headscope::app
