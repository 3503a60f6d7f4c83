#pragma once

#include "app/commands/one_of.h"
#include "app/state/screens/long_map_view.h"
#include "core/tensor/dims.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace headscope::app {

struct ViewState;

/// Halves the weights of a pixel `steps` times; below 0: doubles them. What lies at (x, y), shares of the
/// room, stays there.
struct ZoomLongMap {
    int steps;
    float x = 0.5F, y = 0.5F;
};
/// Moves what is seen, by shares of the room.
struct PanLongMap {
    float x, y;
};
struct WholeLongMap {};
/// Puts a place into the middle of the room; without a scale at the one that there is.
struct CentreLongMap {
    double row, col;
    std::optional<int> scale = {};
};
/// Selects weights; none: selects nothing.
struct SelectOnMap {
    std::optional<MapPart> part;
};
/// Selects one weight and shows it.
struct GoToWeight {
    std::int64_t query, key;
    std::optional<int> scale = reading_scale;
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
/// What the window has found: the size of the room, and the weight under the mouse.
struct MapRoom {
    float width, height;
};
struct PointOnMap {
    std::optional<std::array<std::int64_t, 2>> weight;
};

/// What the user can do to the view of a long map.
struct LongMapChanges {
    using Variant = std::variant<ZoomLongMap, PanLongMap, WholeLongMap, CentreLongMap, SelectOnMap,
                                 GoToWeight, PoolMap, ColourMapBy, ReadMap, MapRoom, PointOnMap>;
};
extern template class OneOf<LongMapChanges>;
using LongMapChange = OneOf<LongMapChanges>;

/// Indices that the map does not have are clamped.
void apply(LongMapView& view, const LongMapChange& change, const Dims& dims);

} // namespace headscope::app
