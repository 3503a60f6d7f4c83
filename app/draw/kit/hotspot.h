#pragma once

#include "app/commands/command.h"
#include "core/figure/scene.h"
#include "core/text/one_line.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::app {

/// An area that does something when clicked.
struct Hotspot {
    figure::Rect area;
    std::string label; ///< unique in its picture; tests and the keyboard find the hotspot by it
    Action action;
    std::string tip; ///< shown on hover; may be empty
};

/// A knob on a track; dragging it chooses a number, and arrow keys do.
struct Slider {
    figure::Rect track = {};
    std::string label; ///< unique in its picture
    float low = 0, high = 1;
    float value = 0;
    float rest = 0; ///< value after a double click
    std::function<Action(float)> action;
    std::string tip;
    float grain = 0.01F; ///< values are multiples of this; the default fits two decimals

    /// The value that is `steps` away: a twentieth of the track each, with Shift a grain.
    float stepped(const ControlSteps& steps) const;
};

/// An area in which the mouse draws out a rectangle, or moves a corner of one. Hotspots over it go first.
struct DragArea {
    figure::Rect area;
    std::string label;  ///< unique in its picture
    figure::Rect frame; ///< what the points below are shares of, in [0, 1]; mostly `area`
    /// Where the button was pressed, and where the mouse is; while it is held.
    std::function<Action(figure::Point from, figure::Point to)> dragged;
    /// Pressed and released in one place; from the keyboard its middle. May be empty.
    std::function<Action(figure::Point at)> clicked = {};
    std::string tip = {};
    std::function<Action(const ControlSteps&)> stepped = {}; ///< arrow keys; empty: they are not taken
};

/// A field for typing a number or a text.
struct TextField {
    figure::Rect area = {};
    std::string label;     ///< unique in its picture
    std::string text = {}; ///< text of the field before the user types
    /// The action of Enter and of leaving the field. Throws Error(input); its sentence is shown under the
    /// field.
    std::function<Action(const std::string&)> action;
    std::function<Action(const std::string&)> leave = {}; ///< for leaving, if it differs from `action`
    std::string tip = {};
    /// What the text is worth as an answer. Shown by a bar and a sign below, until the text is changed.
    enum class Mark : std::uint8_t { none, right, wrong } mark = Mark::none;
    std::string before = {}, after = {}; ///< labels of the fields that Shift Tab and Tab go to
    /// Acts on every letter that makes a text it can read, and Enter leaves the keyboard here.
    bool live = false;
    /// Enter leaves the text and the keyboard here: the next Enter acts again.
    bool stays = false;
    /// Mostly a word of the text is changed: the keyboard comes to its end, and the text is not selected.
    bool changed_in_part = false;
    /// How line ends and tabs are handled.
    text::ControlCharacters controls = text::ControlCharacters::trimmed;
};

/// One line of a drop-down list.
struct Choice {
    std::string label;
    Action action;
    bool on = false;
    std::string tip;
    bool can = true; ///< false: listed in grey, and its tip says why
};

/// A list that is open, hanging from `area`, over all else.
struct DropDown {
    figure::Rect area;
    std::string label; ///< unique in its picture
    std::vector<Choice> choices;
    Action close; ///< sent when it is closed without a choice
};

/// A word that stands for a token and does nothing on a click; the right mouse button opens its menu.
struct TokenWord {
    figure::Rect area;
    Thing token;
};

/// An area that shows an explanation on hover.
struct Tip {
    figure::Rect area;
    std::string text;
};

} // namespace headscope::app
