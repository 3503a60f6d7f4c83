#pragma once

#include "app/draw/kit/controls.h"
#include "app/state/screens/screen.h"

#include <vector>

namespace headscope::app {

// What the canvas of a checkpoint holds in place of its stages. A new screen is an enumerator, a case in
// app/state/screens/screen.cpp, a row of the table in screens.cpp and its drawing functions.

/// The switch of the toolbar: the screens that the newest document has. `shown` may be empty yet.
std::vector<Segment> screen_segments(const Document& document, const Shown& shown, const ViewState& view);

// Of a screen that is not the stages. A screen without a strip of its own keeps that of the stages.
bool has_strip(Screen screen);
Picture draw_screen_strip(Screen screen, const DrawContext& context);
Picture draw_screen(Screen screen, const DrawContext& context);
Picture draw_screen_inspector(Screen screen, const DrawContext& context);

} // namespace headscope::app
