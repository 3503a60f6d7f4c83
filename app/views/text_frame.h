#pragma once

#include "app/views/widgets.h"
#include "core/text/one_line.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace headscope::app {

struct FrameLook {
    figure::Font font = figure::Font::ui;
    float size = 14.5F; ///< of the text
    figure::Color stroke = 0;
    float stroke_width = 1;
    bool wrong = false;  ///< what stands in it cannot be used: a red frame instead
    bool muted = false;  ///< the text
    float before = 12;   ///< logical pixels from the left edge to the text
    std::string id = {}; ///< of the input; while it is not typed into, its text is shaped
    text::ControlCharacters controls = text::ControlCharacters::trimmed; ///< as the input treats them
};

/// Where the caret of a text input goes, for its callback on every frame, whose user data point to one.
enum class Caret : std::uint8_t { stays, at_end, after_all }; ///< after_all: the whole text is selected
int place_caret(ImGuiInputTextCallbackData* data);

/// Texts that Esc took out of fields. Ctrl Z in the field brings them back.
struct ThrownTexts {
    std::map<std::string, std::string> of_field = {}; ///< the last one, by the id of its field
    std::string restoring = {}; ///< id of the field that gets its former text in the next frame; empty: none
    std::string restored = {};  ///< that text
    /// What types a text again that never ran and so is no step of the history: the next undo does it, unless
    /// something else was done in between.
    std::optional<Action> again = {};
    bool fresh = false; ///< the action that restores the field is still to come
};

/// What a text input did in this frame.
struct TypedText {
    bool changed = false; ///< the text is another one than before
    bool entered = false; ///< with ImGuiInputTextFlags_EnterReturnsTrue: Enter was pressed
    /// Esc took this text away in the frame before, and `text` is now the one from before it was typed.
    std::optional<std::string> thrown = {};
};
/// A text input of one line. Esc leaves it with the text from before it was typed into. `live`: every letter
/// acts at once. Then that text comes one frame later, when the gesture of typing is over, so that both texts
/// are steps of the history. `id` also names the field in tools.thrown.
TypedText text_input(const std::string& id, const std::string& hint, std::string& text, int flags,
                     Caret caret, bool live, text::ControlCharacters controls, const ViewTools& tools);
/// The next undo types a text again that Esc took away and that never ran.
void undo_types_again(const Action& types, const ViewTools& tools);
/// What is typed in this frame, UTF-8: for a field that does not have the keyboard yet. Empty with Ctrl or
/// Alt.
std::string typed_ahead();

/// The sentence about what was typed, under the field and over everything else. area: of the field, in
/// physical pixels of the screen.
void show_typing_error(const std::string& error, const figure::Rect& area, const ViewTools& tools);

/// The frame of a text field. Paints the box at `area`, logical pixels of the current window, and sets place,
/// width, font and colours for the one ImGui text input that is made while it lives. `in_field` is its text.
class TextFrame {
public:
    TextFrame(const figure::Rect& area, const FrameLook& look, const std::string& in_field,
              const ViewTools& tools);
    ~TextFrame();
    TextFrame(const TextFrame&) = delete;
    TextFrame& operator=(const TextFrame&) = delete;
};

} // namespace headscope::app
