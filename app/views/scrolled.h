#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <functional>

namespace headscope::app {

/// A scrolling region of the window, filled with one picture made for its inner size (logical pixels).
/// `kept`: gets the picture, in logical pixels of the window; may be null.
void scrolled_picture(const char* id, const figure::Rect& area, const ViewTools& tools,
                      std::optional<CellAddress>* hovered, Picture* kept,
                      const std::function<Picture(float width, float height)>& draw);

/// What drawing functions are given for a place of that size.
DrawContext draw_context(const AppState& state, const ViewTools& tools, float width, float height);
/// The same for the canvas, which also shows B − A.
DrawContext canvas_draw_context(const AppState& state, const ViewTools& tools, float width, float height);

/// Wheel and mouse on a map of any length, whose page fills `area`, in logical pixels of the window.
void steer_long_map(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// The bars above the canvas: of a patched run, and of the comparison with a baseline.
void view_bars(const AppState& state, const figure::Rect& canvas, const ViewTools& tools);
/// What is left of the canvas below its bars: with a patched run or a baseline, its top says what is on
/// screen.
figure::Rect below_bars(const AppState& state, const figure::Rect& canvas);

} // namespace headscope::app
