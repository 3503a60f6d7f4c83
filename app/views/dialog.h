#pragma once

#include "app/views/widgets.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Begins a modal card in the center of the window. It covers everything else and takes mouse and keyboard.
/// Draw between begin_dialog and end_dialog, in logical pixels of the window. `width` and `height` are the
/// wanted size; the returned card is clipped to the window.
figure::Rect begin_dialog(const char* id, float width, float height, const ViewTools& tools);
/// Begins the same modal layer without a background or a card, for example while short work is done.
void begin_modal_layer(const char* id, const ViewTools& tools);
void end_dialog();

/// Paints a scene of a dialog.
void dialog_paint(const figure::Scene& scene, const ViewTools& tools);
/// Converts logical pixels of the window to physical pixels of the screen.
figure::Rect dialog_to_screen(const figure::Rect& area, const ViewTools& tools);
/// Draws text of a dialog. Returns its width.
float dialog_text(figure::Point baseline_start, const std::string& text, figure::Font font, float size,
                  figure::Color color, const ViewTools& tools, figure::Align align = figure::Align::left);
/// The text broken into lines of at most `width`; at least one line.
std::vector<std::string> wrapped_lines(const std::string& text, figure::Font font, float size, float width,
                                       const ViewTools& tools);
/// Draws a paragraph broken into lines. Returns the baseline of the line that would follow.
float dialog_paragraph(figure::Point first_baseline, float width, const std::string& text, float size,
                       float line_height, figure::Color color, const ViewTools& tools);

enum class ButtonLook { plain, primary };
/// A button, by convention 34 logical pixels high. Returns true if it was clicked or if Enter was pressed
/// while it has keyboard focus.
bool push_button(const std::string& label, const figure::Rect& area, ButtonLook look, const ViewTools& tools,
                 const std::string& tip = {});
/// The width of a push button with that label.
float button_width(const std::string& label, const ViewTools& tools);

struct DialogOption {
    std::string label;
    bool on;
};
/// A segmented switch, 28 logical pixels high. Sets `width` to its width. Returns the index of the chosen
/// option, or -1.
int dialog_segments(const std::string& id, figure::Point at, const std::vector<DialogOption>& options,
                    const ViewTools& tools, float& width);

/// The state of a bordered text field.
struct TextBox {
    bool edited = false; ///< the text changed in this frame
    bool active = false; ///< the field has the keyboard
};
/// `focus`: requests the keyboard; repeat it until the field is active, when the first `selected` bytes are
/// selected. `hint` is shown while the text is empty. `on_tab` gets the text before the cursor and returns
/// its completion; if that is the same text, or without `on_tab`, Tab moves on.
TextBox text_box(const char* id, std::string& text, const figure::Rect& area, bool focus,
                 const ViewTools& tools, const char* hint, std::size_t selected = 0,
                 const std::function<std::string(const std::string&)>& on_tab = {});

/// Keys that dialogs read in this frame.
bool enter_pressed();
bool escape_pressed();
/// Moves the focus ring with Tab and Shift Tab, unless a text field has the keyboard.
void move_focus_with_tab(const ViewTools& tools);
/// Takes the keyboard away from the active field.
void leave_field();

/// The text if it fits, otherwise with its middle replaced by "…".
std::string fitted(const std::string& text, figure::Font font, float size, float width,
                   const ViewTools& tools);

} // namespace headscope::app
