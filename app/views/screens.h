#pragma once

#include "app/draw/kit/controls.h"
#include "app/views/state.h"

#include <vector>

namespace headscope::app {

// What the canvas of a checkpoint holds in place of its stages. A new screen is an enumerator, a row of the
// table in screens.cpp and its drawing functions.

/// The screen that is shown: the one that the view asks for where the document has it, else the stages.
Screen screen_of(const AppState& state);
/// The switch of the toolbar: the screens that the document has.
std::vector<Segment> screen_segments(const AppState& state);

// Of a screen that is not the stages. A screen without a strip of its own keeps that of the stages.
bool has_strip(Screen screen);
Picture draw_screen_strip(Screen screen, const DrawContext& context);
Picture draw_screen(Screen screen, const DrawContext& context);
Picture draw_screen_inspector(Screen screen, const DrawContext& context);

} // namespace headscope::app
