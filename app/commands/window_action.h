#pragma once

#include <string>
#include <variant>

namespace headscope::app {

/// To the next (+1) or previous (-1) of the controls that Tab walks over; 0: away from them.
struct WalkControls {
    int by;
};
/// What a click on the control would do that Tab has reached.
struct PressControl {};
/// Opens the File menu.
struct OpenFileMenu {};
/// Opens the command palette.
struct OpenPalette {};
/// Opens the field that finds tokens and numbers on screen, which takes the keyboard, or closes it.
struct OpenFind {
    bool open = true;
};
/// Fills the screen, or goes back to the place and size before.
struct ToggleFullScreen {};
/// The keyboard goes to the field of the sentence or prompt, or to that of the second sentence.
struct TypeSentence {
    bool second = false;
};
/// The keyboard goes to the field of the selected number, which begins with this text.
struct TypeNumber {
    std::string text;
};
/// Says why something cannot be done now.
struct Explain {
    std::string sentence;
};

/// What the user can do to the window itself.
using WindowAction = std::variant<WalkControls, PressControl, OpenFileMenu, OpenPalette, OpenFind,
                                  ToggleFullScreen, TypeSentence, TypeNumber, Explain>;

} // namespace headscope::app
