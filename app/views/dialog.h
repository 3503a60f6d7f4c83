#pragma once

#include "app/views/widgets.h"

#include <string>
#include <vector>

namespace headscope::app {

/// A card in the middle of the window over everything else, which takes mouse and keyboard until it is gone.
/// Draw between begin_dialog and end_dialog; places are logical pixels of the window. `size`'s w and h are
/// what the card wants; what it gets is returned, never more than the window holds.
figure::Rect begin_dialog(const char* id, float width, float height, const ViewTools& tools);
/// The same with nothing to be seen: for work that is over before anybody could read about it.
void begin_shield(const char* id, const ViewTools& tools);
void end_dialog();

/// Paints a scene of a dialog, and says where a place of it is in physical pixels of the screen.
void dialog_paint(const figure::Scene& scene, const ViewTools& tools);
figure::Rect dialog_place(const figure::Rect& area, const ViewTools& tools);
/// Text of a dialog. Returns the width it took.
float dialog_text(figure::Point baseline_start, const std::string& text, figure::Font font, float size,
                  figure::Color color, const ViewTools& tools, figure::Align align = figure::Align::left);
/// Words broken into lines of at most `width`, at least one.
std::vector<std::string> broken_lines(const std::string& text, figure::Font font, float size, float width,
                                      const ViewTools& tools);
/// Such lines, drawn; returns the baseline that the next line would have.
float dialog_paragraph(figure::Point first_baseline, float width, const std::string& text, float size,
                       float line_height, figure::Color color, const ViewTools& tools);

enum class ButtonLook { plain, primary };
/// 34 high as a rule. True when it was clicked, or Enter pressed while the focus ring stands on it.
bool push_button(const std::string& label, const figure::Rect& area, ButtonLook look, const ViewTools& tools,
                 const std::string& tip = {});
/// Width for a push button with that label.
float button_width(const std::string& label, const ViewTools& tools);

struct DialogOption {
    std::string label;
    bool on;
};
/// A segmented switch, 28 high, `width` wide. Returns the option that was chosen, -1: none.
int dialog_segments(const std::string& id, figure::Point at, const std::vector<DialogOption>& options,
                    const ViewTools& tools, float& width);

/// A field that text can be typed into, in a border.
struct TextBox {
    bool edited = false; ///< the text changed in this frame
    bool active = false; ///< it has the keyboard
};
/// `focus`: takes the keyboard; to be repeated until it is active, when the first `selected` bytes are
/// selected. `hint` stands there while the text is empty. `on_tab` completes what stands before the
/// cursor; where it returns the same, and without it, Tab walks on.
TextBox text_box(const char* id, std::string& text, const figure::Rect& area, bool focus,
                 const ViewTools& tools, const char* hint, std::size_t selected = 0,
                 const std::function<std::string(const std::string&)>& on_tab = {});

/// Keys of this frame as dialogs read them.
bool enter_pressed();
bool escape_pressed();
/// Tab and Shift Tab walk through the dialog, unless a text field has the keyboard.
void walk_with_tab(const ViewTools& tools);
/// Takes the keyboard away from the field that has it.
void leave_field();

/// As much of the text as fits, its middle replaced by "…".
std::string fitted(const std::string& text, figure::Font font, float size, float width,
                   const ViewTools& tools);

} // namespace headscope::app
