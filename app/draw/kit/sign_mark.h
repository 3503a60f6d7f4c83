#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// Cells of the diverging ramp without a printed number show their sign by shape too: negative cells get a
// dash.

/// Returns true if the cell gets a dash. share: its number divided by the value at the end of the ramp; the
/// dash is drawn below -0.05, where the color becomes visible.
bool needs_minus_mark(double share);
/// Draws the dash into a cell of that color, if the cell needs one and is large enough.
void draw_minus_mark(Picture& picture, const figure::Rect& cell, double share, figure::Color fill);

} // namespace headscope::app
