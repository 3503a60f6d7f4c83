#pragma once

#include "app/draw/kit/picture.h"

#include <string>

namespace headscope::app {

// Signed numbers on the diverging ramp: zero at its center, -`limit` and `limit` at its ends.

figure::Color signed_colour(const Theme& theme, double value, double limit);
/// The color of a bar, whose length shows the magnitude.
figure::Color sign_colour(const Theme& theme, double value);
/// Draws a cell with its number, if `numbers` is set. `marks`: the width taken by marks at its left; the
/// number is drawn next to them, with fewer decimals if needed.
void draw_signed_cell(Picture& picture, const DrawContext& context, const figure::Rect& area, double value,
                      double limit, bool numbers, int decimals = 2, float marks = 0);
/// Draws the outline of the selected cell.
void draw_selected_cell(Picture& picture, const Theme& theme, const figure::Rect& area);
/// Draws the ramp, 8 logical pixels high.
void draw_ramp(Picture& picture, const Ramp& ramp, float x, float y, float width);

/// Draws a bar from the center of `area`; its length is proportional to value / limit.
void draw_signed_bar(Picture& picture, const Theme& theme, const figure::Rect& area, double value,
                     double limit);

} // namespace headscope::app
