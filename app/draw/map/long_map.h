#pragma once

#include "app/draw/kit/picture.h"

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

} // namespace headscope::app
