#pragma once

#include "app/draw/pages/weight_parts.h"

namespace headscope::app {

/// Above the figure of one head: its name.
constexpr float arcs_title_height = 34.0F;

/// The least width of a figure of two token columns.
float columns_width(const DrawContext& context);

/// Queries in a column at the left, keys in one at the right, lines between, and right of each key how much
/// the row that is spoken of reads it. Returns the y below.
float draw_arc_columns(Picture& picture, const Reading& reading, const figure::Rect& area, float end);

} // namespace headscope::app
