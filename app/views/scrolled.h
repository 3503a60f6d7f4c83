#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <functional>

namespace headscope::app {

struct Scrolling {
    /// Below 1 what the picture points at comes into sight, as ViewState::pointing goes on.
    float pointing = 1;
    bool by_wheel = true;
    int page = 0; ///< which of several stands in the region: another one begins at its top
};
inline constexpr float at_once = 0.95F; ///< as `pointing`: in one frame

/// A scrolling region of the window, filled with one picture made for its inner size (logical pixels).
/// `kept`: gets the picture, in logical pixels of the window; may be null.
void scrolled_picture(const char* id, const figure::Rect& area, const ViewTools& tools,
                      std::optional<CellAddress>* hovered, Picture* kept,
                      const std::function<Picture(float width, float height)>& draw,
                      const Scrolling& how = {});

/// Behind a panel, with a line at its inner edge.
void draw_panel_back(const figure::Rect& area, const ViewTools& tools, bool border_right);

/// What stands below a page and does not scroll with it.
void show_foot(const Picture& picture, const figure::Rect& page, const ViewTools& tools);

/// The open lesson's page or the list of lessons: the text scrolls, its buttons stay.
void view_course(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// What drawing functions are given for a place of that size.
DrawContext draw_context(const AppState& state, const ViewTools& tools, float width, float height);
/// The same for the canvas, which also shows B − A.
DrawContext canvas_context(const AppState& state, const ViewTools& tools, float width, float height);

/// Wheel and mouse on a map of any length, whose page fills `area`, in logical pixels of the window.
void steer_long_map(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// The bars above the canvas: of a patched run, and of the comparison with a baseline.
void view_bars(const AppState& state, const figure::Rect& canvas, const ViewTools& tools);
/// What is left of the canvas below its bars: with a patched run or a baseline, its top says what is on
/// screen.
figure::Rect below_bars(const AppState& state, const figure::Rect& canvas);

} // namespace headscope::app
