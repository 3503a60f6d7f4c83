#pragma once

#include "app/commands/one_of.h"
#include "core/manual/place.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace headscope::app {

/// Moves Tab focus to the next (+1) or previous (-1) control; 0: removes it.
struct MoveTabFocus {
    int by;
};
/// Acts like a click on the control that has Tab focus.
struct PressControl {};
/// The number of steps by which the arrow keys move the control that has Tab focus.
struct ControlSteps {
    int across = 0, up = 0; ///< → and ↑ are positive; Home and End give `to_end`
    bool fine = false;      ///< Shift was held
    static constexpr int to_end = 1000;

    /// For a one-dimensional control, which both pairs of arrows move.
    int sum() const { return across + up; }
    bool any() const { return across != 0 || up != 0; }
};
/// Moves the control that has Tab focus like a drag.
struct StepControl {
    ControlSteps steps;
};
/// Opens the File menu.
struct OpenFileMenu {};
/// Opens the command palette.
struct OpenPalette {};
/// Opens the field that searches for tokens and numbers on screen, with the keyboard focus, or closes it.
struct OpenFind {
    bool open = true;
};
/// Enters full screen, or restores the previous position and size.
struct ToggleFullScreen {};
/// Presents the canvas alone, larger and in full screen. A second time restores the window.
struct Present {};
/// Opens the settings dialog.
struct OpenSettings {
    bool open = true;
};
/// Changes the size of the presentation by tenths; 0: as large as the window allows.
struct ResizePresentation {
    int tenths;
};
/// Hides the presentation, or shows it again.
struct DarkenPresentation {
    bool dark;
};
/// Moves forward (+1) or back (-1) in the text of the presented lesson; at its end, to the next page.
struct ReadOn {
    int by;
};
/// Moves the keyboard focus to the field of the sentence or prompt, or of the second sentence.
struct TypeSentence {
    bool second = false;
};
/// Moves the keyboard focus to the field of the selected number, which starts with this text.
struct TypeNumber {
    std::string text;
};
/// Opens the manual at the section about the current view; if it is open, the list of keys; and closes that.
struct OpenContextHelp {};
/// Opens the manual at a place.
struct OpenManual {
    manual::Place place;
};
/// Opens the manual with these words in its search field, which takes the keyboard focus.
struct SearchManual {
    std::string words;
};
/// Moves back (-1) or forward (+1) through the visited places of the manual.
struct StepManual {
    int by;
};
struct CloseManual {
    bool search_first = false; ///< clears the search first, if there is one
};
/// Copies a text to the clipboard and reports that `what` was copied.
struct CopyText {
    std::string text, what;
};

/// The subject of a context menu: the selected cell, the focused head, or a token.
struct MenuSubject {
    enum class Kind : std::uint8_t { cell, head, token } kind;
    std::int64_t token = -1; ///< its position in its text
    bool of_second = false;  ///< it is in the text that has only keys and values
    bool operator==(const MenuSubject&) const = default;
};
/// Opens the context menu at the mouse, or without a thing at the selection.
struct OpenContextMenu {
    std::optional<MenuSubject> thing;
};
/// Copies part of the selection, the focused head's name, or the token of the context menu to the clipboard.
struct CopyOne {
    enum class What : std::uint8_t { number, row, head, token };
    What what;
};
/// Shows why an action is not available.
struct Explain {
    std::string sentence;
};

/// All actions on the window itself.
struct WindowActions {
    using Variant =
        std::variant<MoveTabFocus, PressControl, StepControl, OpenFileMenu, OpenPalette, OpenFind,
                     ToggleFullScreen, OpenSettings, Present, ResizePresentation, DarkenPresentation, ReadOn,
                     TypeSentence, TypeNumber, OpenContextHelp, OpenManual, SearchManual, StepManual,
                     CloseManual, CopyText, OpenContextMenu, CopyOne, Explain>;
};
extern template class OneOf<WindowActions>;
using WindowAction = OneOf<WindowActions>;

} // namespace headscope::app
