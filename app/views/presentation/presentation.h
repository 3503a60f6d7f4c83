#pragma once

#include "core/figure/scene.h"

#include <optional>

namespace headscope::app {

struct ViewTools;

/// A soft spot that shows the audience where the mouse is.
struct PointerSpot {
    figure::Point at;           ///< logical pixels of the window
    float strength = 0;         ///< 0: invisible; 1: fully visible
    double seconds_at_rest = 0; ///< seconds since the mouse last moved
};

/// The state of a presentation, which shows the canvas alone.
struct Presentation {
    bool on = false;
    float zoom_factor = 1;        ///< the user's factor on the zoom that fits the window; 0.5 to 2
    bool blank = false;           ///< the window is blank
    bool was_full_screen = false; ///< the window was full screen before the presentation
    PointerSpot spot;
    bool types_sentence = false; ///< the field of the sentence is open
    int frames_left = 0;         ///< frames after which that field closes if it does not have the keyboard
};

inline constexpr float smallest_presented = 0.5F, largest_presented = 2;
/// The widths of a presented lesson and of the inspector next to it, in logical pixels.
inline constexpr float presented_lesson_width = 340, presented_inspector_width = 320;
/// The heights of the presented sentence and of the presented prediction, in logical pixels.
inline constexpr float presented_sentence_height = 64, presented_prediction_height = 92;

/// The zoom of a presentation, 1 to 4, independent of the zoom of the normal window. `width`, `height`: size
/// of the window, in logical pixels at 100 %. `beside`: the width of everything next to the canvas.
float presentation_zoom(const Presentation& presentation, float width, float height, float beside = 0);

/// Moves the spot to the mouse (empty: outside the window), at once or, if `moves`, as a short motion. Fades
/// it out when the mouse rests. `seconds`: since the last frame. Returns true if another frame must follow.
bool move_spot_to_mouse(PointerSpot& spot, const std::optional<figure::Point>& mouse, double seconds,
                        bool moves);

/// Opens the field of the sentence, which closes when it loses the keyboard.
void open_presented_field(Presentation& presentation);

/// The spot or the blank window, over everything else.
void view_presentation(const Presentation& presentation, const figure::Rect& window, const ViewTools& tools);

} // namespace headscope::app
