#pragma once

#include "core/figure/scene.h"

#include <optional>

namespace headscope::app {

struct ViewTools;

/// The soft spot that shows a class where the mouse is.
struct PointerSpot {
    figure::Point at;   ///< logical pixels of the window
    float strength = 0; ///< 0: it cannot be seen; 1: fully there
    double rested = 0;  ///< seconds since the mouse moved last
};

/// The canvas alone, as a class sees it.
struct Presentation {
    bool on = false;
    float larger = 1;             ///< as the user chose, times what fits the window; 0.5 to 2
    bool dark = false;            ///< nothing is shown
    bool was_full_screen = false; ///< the window, before
    PointerSpot spot;
};

inline constexpr float smallest_presented = 0.5F, largest_presented = 2;
/// The columns of a presented lesson and of the inspector beside it, in logical pixels.
inline constexpr float presented_lesson_width = 340, presented_inspector_width = 320;

/// The zoom of a presentation, 1 to 4, whatever that of the window around it was. `width`, `height`: of the
/// window, in logical pixels at 100 %. `beside`: of what else stands beside the canvas.
float presentation_zoom(const Presentation& presentation, float width, float height, float beside = 0);

/// Takes the spot to the mouse (empty: it is outside): at once, or where things move in a moment of motion,
/// and away when the mouse rests. `seconds`: since the last frame. True when another frame must follow.
bool follow_mouse(PointerSpot& spot, const std::optional<figure::Point>& mouse, double seconds, bool moves);

/// Over everything else: the spot, or a dark window.
void view_presentation(const Presentation& presentation, const figure::Rect& window, const ViewTools& tools);

} // namespace headscope::app
