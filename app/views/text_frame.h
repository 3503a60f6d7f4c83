#pragma once

#include "app/views/widgets.h"
#include "core/text/one_line.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace headscope::app {

inline constexpr float usual_field_size = 14.5F; ///< of the text in a field, logical pixels

struct FrameLook {
    figure::Font font = figure::Font::ui;
    float size = usual_field_size; ///< size of the text
    figure::Color stroke = 0;
    float stroke_width = 1;
    bool invalid = false; ///< the text is invalid: the frame is red
    bool muted = false;   ///< muted text
    float before = 12;    ///< logical pixels from the left edge to the text
    std::string id = {};  ///< id of the input; its text is shaped while the input is inactive
    text::ControlCharacters controls = text::ControlCharacters::trimmed; ///< same value as for the input
};

/// The caret position of a text input. Its callback, called in every frame, gets a pointer to one as user
/// data.
enum class Caret : std::uint8_t { stays, at_end, all_selected }; ///< all_selected: the whole text is selected
int place_caret(ImGuiInputTextCallbackData* data);

/// Texts that Esc removed from fields. Ctrl Z in the field restores them.
struct RemovedTexts {
    std::map<std::string, std::string> by_field = {}; ///< the last one, by the id of its field
    std::string restoring = {}; ///< id of the field that gets its previous text in the next frame
    std::string restored = {};  ///< the previous text
    /// Types a text again that was never run and so is not in the history. The next undo sends it, unless the
    /// user does something else first.
    std::optional<Action> retype = {};
    bool restore_pending = false; ///< the action that restores the field is still pending
};

/// The result of a text input in this frame.
struct TypedText {
    bool changed = false; ///< the text differs from that of the previous frame
    bool entered = false; ///< with ImGuiInputTextFlags_EnterReturnsTrue: Enter was pressed
    /// The text that Esc removed in the previous frame; `text` is again the one from before typing.
    std::optional<std::string> removed = {};
};
/// A text input of one line. Esc leaves it and restores the text from before typing. `live`: every letter
/// takes effect immediately. The restored text is then returned one frame later, after the typing gesture has
/// ended, so that both texts become steps of the history. `id` also identifies the field in
/// tools.removed_texts.
TypedText text_input(const std::string& id, const std::string& hint, std::string& text, int flags,
                     Caret caret, bool live, text::ControlCharacters controls, const ViewTools& tools);
/// Makes the next undo type a text again that Esc removed and that was never run.
void undo_retypes(const Action& types, const ViewTools& tools);
/// The characters typed in this frame, UTF-8, for a field that does not have the keyboard yet. Empty while
/// Ctrl or Alt is held.
std::string typed_ahead();

/// Shows an error about the typed text below the field, over everything else. area: the field, in physical
/// pixels of the screen.
void show_typing_error(const std::string& error, const figure::Rect& area, const ViewTools& tools);

/// The frame of a text field. Paints the box at `area` (logical pixels of the current window) and sets
/// position, width, font and colors of the one ImGui text input that is created during its lifetime.
/// `in_field` is its text.
class TextFrame {
public:
    TextFrame(const figure::Rect& area, const FrameLook& look, const std::string& in_field,
              const ViewTools& tools);
    ~TextFrame();
    TextFrame(const TextFrame&) = delete;
    TextFrame& operator=(const TextFrame&) = delete;
};

} // namespace headscope::app
