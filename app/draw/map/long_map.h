#pragma once

#include "app/draw/kit/picture.h"

#include <string>

namespace headscope::app {

// The screen of a map of any length: Screen::map.

Picture draw_long_map_page(const DrawContext& context);
Picture draw_long_map_strip(const DrawContext& context);
Picture draw_long_map_inspector(const DrawContext& context);
/// The left panel of a document of which nothing else can be shown.
Picture draw_long_map_panel(const DrawContext& context);
/// The bar at the foot of the window: how far the map is read, and its size.
Picture draw_long_map_bar(const DrawContext& context);

/// Where the map itself stands on the page.
figure::Rect long_map_room(const DrawContext& context);
/// Gives the page of a figure the size at which it shows what the view shows on screen.
void fit_to_map(DrawContext& context);

/// The part of the map that is seen: "the whole map: queries 0 to 5,999, keys 0 to 5,999".
std::string map_place_text(const LongMap& map, const LongMapView& view);
/// The meaning of one number of that part: "each number is the largest of 16 × 16 weights".
std::string map_number_text(const LongMap& map, const LongMapView& view);

} // namespace headscope::app
