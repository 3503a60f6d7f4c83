#pragma once

#include "core/engine/weights_map.h"

#include <array>
#include <cstdint>
#include <optional>

namespace headscope::app {

/// The state of the pass over all weights of a long map.
enum class MapReading : std::uint8_t { on, paused, off };

/// The view settings of a long map.
struct LongMapView {
    /// A pixel shows 2^scale x 2^scale weights; below 0, a weight has 2^-scale pixels a side. None: the whole
    /// map, as large as fits.
    std::optional<int> scale;
    double row = 0, col = 0;         ///< the weight at the center of the viewport; used if `scale` is set
    float width = 560, height = 480; ///< the viewport in logical pixels; set by the window
    Pooling pooling = Pooling::max;
    bool linear = false; ///< linear colors instead of logarithmic
    MapReading reading = MapReading::on;
    std::optional<MapPart> selected = {}; ///< a single weight, or the weights under a pixel
    std::optional<std::array<std::int64_t, 2>> under_mouse = {}; ///< query and key
    bool operator==(const LongMapView&) const = default;
};

/// The visible part of a map.
struct VisibleMap {
    int scale = 0; ///< scale that is drawn; the whole map is enlarged up to twofold to fill the viewport
    double top = 0, left = 0; ///< the weight at the viewport's upper left; below 0 outside the map
    double pixels = 1;        ///< size of one weight

    /// Pixels from the viewport's left edge to the left edge of a column, or from its top to a row.
    float x(double col) const { return static_cast<float>((col - left) * pixels); }
    float y(double row) const { return static_cast<float>((row - top) * pixels); }
};
/// A map that is smaller than the viewport is centered; a larger one fills it.
VisibleMap visible_map(const LongMapView& view, std::int64_t rows, std::int64_t cols);
/// Returns the part of the map that is visible; at least one weight.
MapPart visible_part(const LongMapView& view, std::int64_t rows, std::int64_t cols);

inline constexpr int min_map_scale = -6; ///< smallest scale: a weight of 64 x 64 pixels
inline constexpr int spot_scale = -5;    ///< scale at which a spot is shown
/// Returns the scale at which the whole map fits.
int whole_scale(const LongMapView& view, std::int64_t rows, std::int64_t cols);

} // namespace headscope::app
