#pragma once

#include "app/commands/one_of.h"
#include "core/manual/place.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

/// To the next (+1) or previous (-1) of the controls that Tab walks over; 0: away from them.
struct WalkControls {
    int by;
};
/// What a click on the control would do that Tab has reached.
struct PressControl {};
/// How far the arrow keys move the control that Tab has reached.
struct ControlSteps {
    int across = 0, up = 0; ///< → and ↑ count up; Home and End give `to_end`
    bool fine = false;      ///< Shift was held
    static constexpr int to_end = 1000;

    /// For a control with one direction, which both pairs of arrows move.
    int sum() const { return across + up; }
    bool any() const { return across != 0 || up != 0; }
};
/// Moves the control that Tab has reached, as a drag would.
struct StepControl {
    ControlSteps steps;
};
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
/// Presents what the canvas shows: alone, larger, on the whole screen. Again: the window as it was.
struct Present {};
/// The dialog of settings.
struct OpenSettings {
    bool open = true;
};
/// By so many tenths of the presentation's size; 0: as large as its window allows.
struct ResizePresentation {
    int tenths;
};
/// Darkens the presentation, or shows it again.
struct DarkenPresentation {
    bool dark;
};
/// On (+1) or back (-1) in the text of the lesson that is presented, at its end to the next page.
struct ReadOn {
    int by;
};
/// The keyboard goes to the field of the sentence or prompt, or to that of the second sentence.
struct TypeSentence {
    bool second = false;
};
/// The keyboard goes to the field of the selected number, which begins with this text.
struct TypeNumber {
    std::string text;
};
/// Opens the manual at what is on screen; while it is open, the list of keys; and closes that.
struct AskHelp {};
/// Opens the manual at that place.
struct OpenManual {
    manual::Place place;
};
/// Opens the manual with its field of search, which takes the keyboard, and with these words in it.
struct SearchManual {
    std::string words;
};
/// Back (-1) or forth (+1) through the places of the manual that were looked at.
struct StepManual {
    int by;
};
struct CloseManual {
    bool search_first = false; ///< takes back what is searched for, where something is
};
/// Puts a text into the clipboard, and says that `what` was copied.
struct CopyText {
    std::string text, what;
};

/// What a context menu is about: the selected cell, the head in focus, or a token.
struct Thing {
    enum class Kind : std::uint8_t { cell, head, token } kind;
    std::int64_t token = -1; ///< its position in its text
    bool of_second = false;  ///< that is a text from which keys and values alone are made
    bool operator==(const Thing&) const = default;
};
/// Opens the context menu at the mouse, or without a thing at what is selected.
struct OpenContextMenu {
    std::optional<Thing> thing;
};
/// To the clipboard, of what is selected, in focus or the token of the context menu.
struct CopyOne {
    enum class What : std::uint8_t { number, row, head, token };
    What what;
};
/// Says why something cannot be done now.
struct Explain {
    std::string sentence;
};

/// What the user can do to the window itself.
struct WindowActions {
    using Variant =
        std::variant<WalkControls, PressControl, StepControl, OpenFileMenu, OpenPalette, OpenFind,
                     ToggleFullScreen, OpenSettings, Present, ResizePresentation, DarkenPresentation, ReadOn,
                     TypeSentence, TypeNumber, AskHelp, OpenManual, SearchManual, StepManual, CloseManual,
                     CopyText, OpenContextMenu, CopyOne, Explain>;
};
extern template class OneOf<WindowActions>;
using WindowAction = OneOf<WindowActions>;

} // namespace headscope::app
