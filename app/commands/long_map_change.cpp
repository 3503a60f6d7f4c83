#include "app/commands/long_map_change.h"

#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Sets the center to that of the visible part, which may be clamped to the map.
void take_sight(LongMapView& view, const VisibleMap& sight) {
    view.scale = sight.scale;
    view.row = sight.top + static_cast<double>(view.height) / 2 / sight.pixels;
    view.col = sight.left + static_cast<double>(view.width) / 2 / sight.pixels;
}

void zoom(LongMapView& view, const ZoomLongMap& change, const Dims& dims) {
    const VisibleMap before = visible_map(view, dims.Tq, dims.Tk);
    take_sight(view, before);
    const int whole = whole_scale(view, dims.Tq, dims.Tk);
    // If the whole map almost fills the viewport at the next scale, skip a step that would be invisible.
    const bool tiny = change.steps > 0 && std::ldexp(before.pixels, before.scale) > 1.6;
    view.scale =
        std::clamp(before.scale - change.steps - (tiny ? 1 : 0), std::min(min_map_scale, whole), whole);
    const double shift = 1 / before.pixels - std::ldexp(1.0, *view.scale);
    view.col += static_cast<double>((change.x - 0.5F) * view.width) * shift;
    view.row += static_cast<double>((change.y - 0.5F) * view.height) * shift;
    take_sight(view, visible_map(view, dims.Tq, dims.Tk));
    if (*view.scale == whole)
        view.scale.reset();
}

void pan(LongMapView& view, const PanLongMap& change, const Dims& dims) {
    if (!view.scale)
        return;
    const VisibleMap before = visible_map(view, dims.Tq, dims.Tk);
    view.col += static_cast<double>(change.x * view.width) / before.pixels;
    view.row += static_cast<double>(change.y * view.height) / before.pixels;
    take_sight(view, visible_map(view, dims.Tq, dims.Tk));
}

void centre(LongMapView& view, const CenterLongMap& change, const Dims& dims) {
    take_sight(view, visible_map(view, dims.Tq, dims.Tk));
    view.scale = change.scale.value_or(*view.scale);
    view.row = change.row;
    view.col = change.col;
    take_sight(view, visible_map(view, dims.Tq, dims.Tk));
    if (*view.scale == whole_scale(view, dims.Tq, dims.Tk))
        view.scale.reset();
}

/// Returns the part clipped to the map, or nothing.
std::optional<MapPart> inside(const std::optional<MapPart>& part, const Dims& dims) {
    if (!part)
        return std::nullopt;
    MapPart out;
    out.row = std::clamp<std::int64_t>(part->row, 0, dims.Tq - 1);
    out.col = std::clamp<std::int64_t>(part->col, 0, dims.Tk - 1);
    out.rows = std::clamp<std::int64_t>(part->rows, 1, dims.Tq - out.row);
    out.cols = std::clamp<std::int64_t>(part->cols, 1, dims.Tk - out.col);
    return out;
}

} // namespace

void apply(LongMapView& view, const LongMapChange& change, const Dims& dims) {
    std::visit(Overloaded{[&](const ZoomLongMap& c) { zoom(view, c, dims); },
                          [&](const PanLongMap& c) { pan(view, c, dims); },
                          [&](const WholeLongMap&) { view.scale.reset(); },
                          [&](const CenterLongMap& c) { centre(view, c, dims); },
                          [&](const SelectOnMap& c) { view.selected = inside(c.part, dims); },
                          [&](const GoToWeight& c) {
                              view.selected = inside(MapPart{c.query, c.key, 1, 1}, dims);
                              centre(view,
                                     {static_cast<double>(view.selected->row) + 0.5,
                                      static_cast<double>(view.selected->col) + 0.5, c.scale},
                                     dims);
                          },
                          [&](const PoolMap& c) { view.pooling = c.pooling; },
                          [&](const ColourMapBy& c) { view.linear = c.linear; },
                          [&](const ReadMap& c) { view.reading = c.reading; },
                          [&](const SetMapViewport& c) {
                              view.width = std::max(c.width, 1.0F);
                              view.height = std::max(c.height, 1.0F);
                          },
                          [&](const PointOnMap& c) { view.under_mouse = c.weight; }},
               change);
}

} // namespace headscope::app
