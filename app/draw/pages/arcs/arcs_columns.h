#pragma once

#include "app/draw/pages/weight_parts.h"

namespace headscope::app {

/// Height of the title above a head's figure.
constexpr float arcs_title_height = 34.0F;

/// The smallest width of a figure with two token columns.
float columns_width(const DrawContext& context);

/// Draws queries in a column at the left, keys in a column at the right, lines between them, and to the right
/// of each key its weight in the focused row. Returns the lower edge.
float draw_arc_columns(Picture& picture, const FigureWeights& reading, const figure::Rect& area, float end);

} // namespace headscope::app
