#pragma once

#include "app/commands/command.h"
#include "core/figure/scene.h"
#include "core/text/one_line.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::app {

/// An area that sends an action when clicked.
struct Hotspot {
    figure::Rect area;
    std::string label; ///< unique in its picture; identifies the hotspot for tests and the keyboard
    Action action;
    std::string tip; ///< shown on hover; may be empty
};

/// A knob on a track. Dragging it or the arrow keys choose a number.
struct Slider {
    figure::Rect track = {};
    std::string label; ///< unique in its picture
    float low = 0, high = 1;
    float value = 0;
    float default_value = 0; ///< value after a double click
    std::function<Action(float)> action;
    std::string tip;
    float grain = 0.01F; ///< values are multiples of this; the default fits two decimals

    /// The value after `steps`: each is a twentieth of the track, or one grain with Shift.
    float stepped(const ControlSteps& steps) const;
};

/// An area in which the mouse drags out a rectangle or moves a corner of one. Hotspots over it take
/// precedence.
struct DragArea {
    figure::Rect area;
    std::string label;           ///< unique in its picture
    figure::Rect reference_area; ///< the points below are fractions of this area, in [0, 1]; usually `area`
    /// Sent while the button is held: the point where it was pressed, and the current point.
    std::function<Action(figure::Point from, figure::Point to)> dragged;
    /// Sent when the button is pressed and released at one point; the keyboard uses the center. May be empty.
    std::function<Action(figure::Point at)> clicked = {};
    std::string tip = {};
    std::function<Action(const ControlSteps&)> stepped = {}; ///< arrow keys; empty: not handled
};

/// A field for typing a number or a text.
struct TextField {
    figure::Rect area = {};
    std::string label;     ///< unique in its picture
    std::string text = {}; ///< the text before the user types
    /// The action of Enter and of leaving the field. Throws Error(input); its message is shown below the
    /// field.
    std::function<Action(const std::string&)> action;
    std::function<Action(const std::string&)> leave = {}; ///< for leaving, if it differs from `action`
    std::string tip = {};
    /// The result of checking the text as an answer. Shown as a bar and a sign below the field until the text
    /// changes.
    enum class Mark : std::uint8_t { none, right, wrong } mark = Mark::none;
    std::string before = {}, after = {}; ///< labels of the fields that Shift Tab and Tab move to
    /// Sends the action for every letter that makes a valid text. Enter keeps the keyboard in the field.
    bool acts_on_each_letter = false;
    /// Enter keeps the text and the keyboard in the field, so that the next Enter sends the action again.
    bool keeps_keyboard = false;
    /// Usually only a word of the text is changed: the caret starts at the end and the text is not selected.
    bool caret_at_end = false;
    /// A field that appears where the user wants to type: it takes the keyboard in its first frame. Sent once
    /// when it has lost the keyboard; empty: an ordinary field.
    std::function<Action()> close = {};
    /// For Tab (+1) and Shift Tab (-1) in such a field, after `action`; empty: Tab moves the focus.
    std::function<Action(int by)> next = {};
    /// The handling of line ends and tabs.
    text::ControlCharacters controls = text::ControlCharacters::trimmed;
};

/// One row of a drop-down list.
struct Choice {
    std::string label;
    Action action;
    bool on = false;
    std::string tip;
    bool enabled = true; ///< false: disabled, and the tooltip says why
};

/// An open list below `area`, over everything else.
struct DropDown {
    figure::Rect area;
    std::string label; ///< unique in its picture
    std::vector<Choice> choices;
    Action close; ///< sent when the list is closed without a choice
};

/// A word that represents a token. A click does nothing; the right mouse button opens its menu.
struct TokenWord {
    figure::Rect area;
    MenuSubject token;
};

/// An area that shows an explanation on hover.
struct Tip {
    figure::Rect area;
    std::string text;
};

} // namespace headscope::app
