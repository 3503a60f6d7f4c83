#pragma once

#include "app/draw/weight_parts.h"

namespace headscope {

/// The least width of a figure of two token columns.
float columns_width(const DrawContext& context);

/// Queries in a column at the left, keys in one at the right, lines between, and right of each key how much
/// the row that is spoken of reads it. Returns the y below.
float draw_arc_columns(Picture& picture, const Reading& reading, const Rect& area, float end);

} // namespace headscope
