#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/picture.h"
#include "app/views/surface.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct OpenChooser;

/// Where views send what the user did.
using Sink = std::function<void(const Action&)>;

/// Keyboard focus over everything that can be clicked: Tab walks, Enter does what a click does. Places
/// register in drawing order in every frame. What Tab reaches is scrolled into sight.
class FocusRing {
public:
    void begin_frame();
    /// Registers a place (physical pixels). True when Enter was pressed on it.
    bool offer(const figure::Rect& area);
    void move(int by) { move_ += by; }
    void activate() { activate_ = true; }
    void clear() { index_ = -1; }
    bool visible() const { return index_ >= 0; }
    /// Where it stands, in physical pixels, while it is visible.
    const figure::Rect& area() const { return focused_; }
    /// Drawn last, over everything.
    void draw(figure::Color color, float scale) const;

private:
    int index_ = -1, count_ = 0, previous_count_ = 0, move_ = 0;
    bool activate_ = false, activated_now_ = false, arriving_ = false;
    figure::Rect focused_{};
};

/// What is being typed into one of a picture's fields.
struct FieldEdit {
    std::string label; ///< of the field; empty: none
    std::string text;
    std::string error;     ///< why it could not be used; shown under the field until something else is typed
    std::string next = {}; ///< label of the field that takes the keyboard in the next frame
};

/// What is typed for the selected number.
struct NumberEdit {
    std::string text;
    bool take_keyboard = false; ///< the field asks for the keyboard
    bool active = false;        ///< it has it
    std::string ahead;          ///< typed before it had
};

/// What every view is given to draw with. `field`, `number` and `chooser` hold what is being typed and belong
/// to the text fields that show it; nothing else of the state is written by a view.
struct ViewTools {
    Surface& surface;
    FocusRing& focus;
    const Theme& theme;
    const figure::TextMeasure& measure;
    const Sink& send;
    std::function<float(const CellAddress&)> value =
        {}; ///< of a cell that is shown; empty: cells cannot be edited
    /// Whether the user set the number in place of what a checkpoint computes; empty: nobody did.
    std::function<bool(const CellAddress&)> is_set = {};
    const ViewState* view = nullptr; ///< null: no selecting by mouse, no painting
    bool keeps_selection = false;    ///< a click beside every cell leaves the selection as it is
    FieldEdit* field = nullptr;      ///< null: pictures have no fields
    std::string* hovered = nullptr;  ///< takes the label of the hotspot under the mouse; null: nobody asks
    NumberEdit* number = nullptr;    ///< null: numbers cannot be typed
    OpenChooser* chooser = nullptr;  ///< while a path is being chosen
    PixelCache* pixels = nullptr;    ///< null: nothing is kept from frame to frame
    std::function<bool(const CellAddress&)> allowed =
        {}; ///< whether the newest mask allows a cell of scores to weights
};

/// What the mouse does on a cell: selects, begins to drag a number, draws out a block, paints the mask.
void react_to_cell(const MatrixGrid& grid, const CellAddress& cell, const ViewTools& tools);
/// Shows a picture's field at physical pixels.
void show_field(const TextField& field, const figure::Rect& area, const ViewTools& tools);

/// Paints a picture with its origin at the given physical pixel of the current ImGui window and makes its
/// hotspots, tips and (with `hovered`) its cells react. A hovered cell is written to `hovered`; a click
/// selects it.
void show_picture(const Picture& picture, float x, float y, const ViewTools& tools,
                  std::optional<CellAddress>* hovered);

/// One line of a drop-down list.
struct Choice {
    std::string label;
    Action action;
    bool on = false;
    std::string tip;
};

/// A drop-down: caption, value and a chevron in a bordered field at `area` (logical pixels of the current
/// window).
void combo(const std::string& caption, const std::string& value, const figure::Rect& area,
           const std::vector<Choice>& choices, const ViewTools& tools);
/// Width that combo() wants.
float combo_width(const std::string& caption, const std::string& value, const ViewTools& tools);

/// A tooltip of at most 320 logical pixels, in the theme's colours.
void show_tip(const std::string& text, const ViewTools& tools);

} // namespace headscope::app
