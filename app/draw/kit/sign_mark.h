#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

// Cells of the diverging ramp that have no number tell their sign by shape too: those below 0 carry a dash.

/// Whether a cell gets its dash: its number, as a share of the ramp's end, is below 0 by more than can be
/// seen as colour.
bool is_marked_below_zero(double share);
/// Draws the dash into a cell of that colour, where it has to be and fits.
void mark_below_zero(Picture& picture, const figure::Rect& cell, double share, figure::Color fill);

} // namespace headscope::app
