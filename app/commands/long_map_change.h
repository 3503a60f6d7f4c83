#pragma once

#include "app/commands/one_of.h"
#include "app/state/screens/long_map_view.h"
#include "core/tensor/dims.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace headscope::app {

struct ViewState;

/// Halves the weights per pixel `steps` times; below 0: doubles them. The point at (x, y), fractions of the
/// viewport, keeps its place.
struct ZoomLongMap {
    int steps;
    float x = 0.5F, y = 0.5F;
};
/// Moves the visible part by fractions of the viewport.
struct PanLongMap {
    float x, y;
};
struct WholeLongMap {};
/// Centers the viewport on a point; without a scale, keeps the current one.
struct CenterLongMap {
    double row, col;
    std::optional<int> scale = {};
};
/// Selects weights; none: clears the selection.
struct SelectOnMap {
    std::optional<MapPart> part;
};
/// Selects one weight and shows it.
struct GoToWeight {
    std::int64_t query, key;
    std::optional<int> scale = spot_scale;
};
struct PoolMap {
    Pooling pooling;
};
struct ColourMapBy {
    bool linear;
};
struct ReadMap {
    MapReading reading;
};
/// Reported by the window: the size of the viewport, and the weight under the mouse.
struct SetMapViewport {
    float width, height;
};
struct PointOnMap {
    std::optional<std::array<std::int64_t, 2>> weight;
};

/// All changes to the view of a long map.
struct LongMapChanges {
    using Variant = std::variant<ZoomLongMap, PanLongMap, WholeLongMap, CenterLongMap, SelectOnMap,
                                 GoToWeight, PoolMap, ColourMapBy, ReadMap, SetMapViewport, PointOnMap>;
};
extern template class OneOf<LongMapChanges>;
using LongMapChange = OneOf<LongMapChanges>;

/// Out-of-range indices are clamped.
void apply(LongMapView& view, const LongMapChange& change, const Dims& dims);

} // namespace headscope::app
