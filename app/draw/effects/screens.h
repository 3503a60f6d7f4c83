#pragma once

#include "app/draw/kit/controls.h"
#include "app/state/screens/screen.h"

#include <vector>

namespace headscope::app {

// Screens of a checkpoint other than the stages. To add a screen, add an enumerator, a case in
// app/state/screens/screen.cpp, a row of the table in screens.cpp and the drawing functions.

/// The switch of the toolbar with the screens of the newest document. `shown` may still be empty.
std::vector<Segment> screen_segments(const Document& document, const Shown& shown, const ViewState& view);

// For a screen other than the stages. A screen without its own strip keeps that of the stages.
bool has_strip(Screen screen);
Picture draw_screen_strip(Screen screen, const DrawContext& context);
Picture draw_screen(Screen screen, const DrawContext& context);
Picture draw_screen_inspector(Screen screen, const DrawContext& context);

} // namespace headscope::app
