#pragma once

#include "app/draw/kit/picture.h"

#include <string>

namespace headscope::app {

// Numbers of either sign on the diverging ramp, zero at its middle, `limit` at its ends.

figure::Color signed_colour(const Theme& theme, double value, double limit);
/// For bars, whose length says how much.
figure::Color sign_colour(const Theme& theme, double value);
/// A cell with its number in two decimals, or one, where numbers are wanted. `marks`: the room at its left
/// that marks take; the number stands beside them, with fewer decimals where that is needed.
void draw_signed_cell(Picture& picture, const DrawContext& context, const figure::Rect& area, double value,
                      double limit, bool numbers, int decimals = 2, float marks = 0);
/// The outline of the selected cell.
void draw_selected_cell(Picture& picture, const Theme& theme, const figure::Rect& area);
/// The ramp itself, 8 high.
void draw_ramp(Picture& picture, const Ramp& ramp, float x, float y, float width);

/// A bar from a zero in the middle of [x, x + width], as long as value / limit, in a row `height` high.
void draw_signed_bar(Picture& picture, const Theme& theme, const figure::Rect& area, double value,
                     double limit);

} // namespace headscope::app
