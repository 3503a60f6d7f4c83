#pragma once

#include "app/commands/command.h"
#include "core/figure/scene.h"

#include <functional>
#include <string>

namespace headscope::app {

/// A place that does something when it is clicked.
struct Hotspot {
    figure::Rect area;
    std::string label; ///< unique in its picture; also how tests and the keyboard find it
    Action action;
    std::string tip; ///< shown on hover; may be empty
};

/// A place that is dragged along its track to choose a number.
struct Slider {
    figure::Rect track;
    std::string label; ///< unique in its picture
    float low = 0, high = 1;
    float value = 0;
    float rest = 0; ///< where a double click puts it
    std::function<Action(float)> action;
    std::string tip;
    float grain = 0.01F; ///< values are whole multiples of it; by default what two decimals can tell apart
};

/// A place where a number or a text is typed.
struct TextField {
    figure::Rect area;
    std::string label; ///< unique in its picture
    std::string text;  ///< what it holds while nothing is typed
    /// What Enter or leaving asks for. Throws Error(input) with the sentence that is shown under the field.
    std::function<Action(const std::string&)> action;
    std::function<Action(const std::string&)> leave = {}; ///< for leaving, where that is something else
    std::string tip = {};
};

/// A place that explains itself on hover.
struct Tip {
    figure::Rect area;
    std::string text;
};

} // namespace headscope::app
