#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <functional>

namespace headscope::app {

struct Scrolling {
    /// Below 1, the region scrolls to the area that the picture points at; same progress as
    /// ViewState::pointing.
    float pointing = 1;
    bool by_wheel = true;
    int content_id = 0; ///< the page shown in the region; a change scrolls to the top
};
inline constexpr float at_once = 0.95F; ///< value of `pointing` that scrolls within one frame

/// A scrolling region that shows one picture, drawn for the region's size (logical pixels). `kept` receives
/// the picture, in logical pixels of the window; may be null.
void scrolled_picture(const char* id, const figure::Rect& area, const ViewTools& tools,
                      std::optional<CellAddress>* hovered, Picture* kept,
                      const std::function<Picture(float width, float height)>& draw,
                      const Scrolling& how = {});

/// Draws the background of a panel, with a line at its inner edge.
void draw_panel_background(const figure::Rect& area, const ViewTools& tools, bool border_right);

/// Shows a fixed footer below a scrolling page.
void show_footer(const Picture& picture, const figure::Rect& page, const ViewTools& tools);

/// The page of the open lesson, or the list of lessons. The text scrolls, its buttons stay.
void view_course(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// The context for drawing functions at that size.
DrawContext draw_context(const AppState& state, const ViewTools& tools, float width, float height);
/// The context for the canvas, which can also show the difference B − A.
DrawContext canvas_context(const AppState& state, const ViewTools& tools, float width, float height);

/// The picture on its way to the place of the page that it replaces, while it arrives. `area`: of the canvas,
/// logical pixels of the window; `context`: what the picture was drawn from.
Picture arriving(const AppState& state, Picture picture, const figure::Rect& area,
                 const DrawContext& context);

/// Handles wheel and mouse on a map of any length, whose page fills `area` (logical pixels of the window).
void steer_long_map(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// The bars above the canvas: for a patched run, for the comparison with a baseline, and for a question about
/// a separator in the prompt.
void view_bars(const AppState& state, const figure::Rect& canvas, const ViewTools& tools);
/// The part of the canvas below its bars.
figure::Rect canvas_below_bars(const AppState& state, const figure::Rect& canvas);

} // namespace headscope::app
