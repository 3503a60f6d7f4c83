#pragma once

#include "app/draw/kit/picture.h"

#include <string>

namespace headscope::app {

// The screen for maps of any length: Screen::map.

Picture draw_long_map_page(const DrawContext& context);
Picture draw_long_map_strip(const DrawContext& context);
Picture draw_long_map_inspector(const DrawContext& context);
/// The left panel of a document that has nothing but a map.
Picture draw_long_map_panel(const DrawContext& context);
/// The bar at the bottom of the window: how much of the map has been read, and its size.
Picture draw_long_map_bar(const DrawContext& context);

/// The area of the map on the canvas.
figure::Rect long_map_area(const DrawContext& context);
/// Sets the size of an exported figure so that it shows the same part of the map as the screen.
void fit_figure_to_map(DrawContext& context);

/// Describes the visible part of the map: "the whole map: queries 0 to 5,999, keys 0 to 5,999".
std::string map_place_text(const LongMap& map, const LongMapView& view);
/// Describes one number of that part: "each number is the largest of 16 × 16 weights".
std::string map_number_text(const LongMap& map, const LongMapView& view);

} // namespace headscope::app
