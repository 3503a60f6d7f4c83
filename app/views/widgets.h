#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/picture.h"
#include "app/views/surface.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

struct OpenChooser;
/// Where views send what the user did.
using Sink = std::function<void(const Action&)>;

/// What the keyboard did to a place of the focus ring.
struct KeyedPlace {
    bool pressed = false; ///< Enter
    ControlSteps steps{}; ///< arrows, Home, End
};

/// Keyboard focus over everything that can be clicked: Tab walks, Enter does what a click does, arrows move
/// what can be dragged. Places register in drawing order in every frame. What Tab reaches is scrolled into
/// sight.
class FocusRing {
public:
    void begin_frame();
    /// Registers a place (physical pixels). True when Enter was pressed on it.
    bool offer(const figure::Rect& area);
    /// Registers a text field. True when it should take the keyboard: the ring came to it, or Enter was
    /// pressed.
    bool offer_text(const figure::Rect& area);
    /// Registers a place that takes the arrow keys too.
    KeyedPlace offer_steps(const figure::Rect& area);
    /// While the ring stands nowhere, Tab comes first to the first text field there, else to the first place.
    void begin_in(const figure::Rect& area) { beginning_ = area; }
    void move(int by) { move_ += by; }
    void activate() { activate_ = true; }
    void step(const ControlSteps& by);
    void clear() { index_ = -1; }
    bool visible() const { return index_ >= 0; }
    /// Whether it stands on a place that takes the arrow keys.
    bool takes_steps() const { return visible() && takes_steps_; }
    /// Where it stands, in physical pixels, while it is visible.
    const figure::Rect& area() const { return focused_; }
    /// Drawn last, over everything.
    void draw(figure::Color color, float scale) const;

private:
    /// Counts a place and says whether the ring stands on it: on what lies where it lay in the frame before,
    /// else, after a move or when nothing lies there now, on the place of the same number.
    bool stands_on(const figure::Rect& area, bool text = false);
    int beginning() const; ///< the number of the place where Tab comes first, from the frame before

    int index_ = -1, count_ = 0, previous_count_ = 0, move_ = 0;
    bool activate_ = false, activated_now_ = false, arriving_ = false;
    bool takes_steps_ = false, took_steps_ = false; ///< as the frame before ended, and in this frame so far
    bool by_number_ = true, seen_ = false;
    std::vector<std::pair<figure::Rect, bool>> offered_; ///< places of this frame, and which are text fields
    figure::Rect beginning_;                             ///< see begin_in; empty: the first of all
    int settling_ = 0;                 ///< frames in which what the ring came to may still scroll
    int alike_ = 0, alike_passed_ = 0; ///< places of the same area before the ring's; and in this frame
    ControlSteps steps_{}, steps_now_{};
    figure::Rect focused_{};
};

/// What is being typed into one of a picture's fields.
struct FieldEdit {
    std::string label = {}; ///< of the field; empty: none
    std::string text = {};
    std::string error = {}; ///< why it could not be used; shown under the field until something else is typed
    std::string next = {};  ///< label of the field that takes the keyboard in the next frame
};

/// What is typed for the selected number.
struct NumberEdit {
    std::string text = {};
    bool take_keyboard = false; ///< the field asks for the keyboard
    bool active = false;        ///< it has it
    std::string ahead;          ///< typed before it had, with Enter and Tab
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
    const ViewState* view = nullptr;      ///< null: no selecting by mouse, no painting
    bool keeps_selection = false;         ///< a click beside every cell leaves the selection as it is
    FieldEdit* field = nullptr;           ///< null: pictures have no fields
    struct ThrownTexts* thrown = nullptr; ///< that Esc took out of fields
    std::string* hovered = nullptr; ///< takes the label of the hotspot under the mouse; null: nobody asks
    NumberEdit* number = nullptr;   ///< null: numbers cannot be typed
    OpenChooser* chooser = nullptr; ///< while a path is being chosen
    PixelCache* pixels = nullptr;   ///< null: nothing is kept from frame to frame
    std::function<bool(const CellAddress&)> allowed =
        {}; ///< whether the newest mask allows a cell of scores to weights
};

/// What the mouse does on a cell: selects, begins to drag a number, draws out a block, paints the mask.
void react_to_cell(const MatrixGrid& grid, const CellAddress& cell, const ViewTools& tools);
/// Scrolls the current region so far that an area, in physical pixels, is seen.
void scroll_to(const figure::Rect& area);
/// Shows a picture's field at physical pixels.
void show_field(const TextField& field, const figure::Rect& area, const ViewTools& tools);

/// A place of the current ImGui window in physical pixels of the screen.
figure::Rect physical(const figure::Rect& area, const ViewTools& tools);
/// Paints a scene from the corner of the current ImGui window on.
void paint_here(const figure::Scene& scene, const ViewTools& tools);
/// Begins a region of its own in the current ImGui window, as ImGui::BeginChild does.
void begin_region(const char* id, const figure::Rect& area, const ViewTools& tools, int flags = 0);

/// Paints a picture with its origin at the given physical pixel of the current ImGui window and makes its
/// hotspots, tips and (with `hovered`) its cells react. A hovered cell is written to `hovered`; a click
/// selects it.
void show_picture(const Picture& picture, float x, float y, const ViewTools& tools,
                  std::optional<CellAddress>* hovered);

/// By how many rows the keys of this frame move in an open list: ↓ and Tab on, ↑ and Shift Tab back.
int list_step();
/// Around the row of an open list that the keyboard is on, in physical pixels.
void draw_list_focus(const figure::Rect& row, const ViewTools& tools);

/// A drop-down: caption, value and a chevron in a bordered field at `area` (logical pixels of the current
/// window).
void combo(const std::string& caption, const std::string& value, const figure::Rect& area,
           const std::vector<Choice>& choices, const ViewTools& tools);
/// Width that combo() wants.
float combo_width(const std::string& caption, const std::string& value, const ViewTools& tools);

/// An upright edge between two regions, which the mouse drags and the arrow keys of the focus ring move.
/// `x`, `top`, `height`: logical pixels of the current window. Returns where it should stand now.
float drag_edge(const char* id, float x, float top, float height, const ViewTools& tools);

/// A tooltip of at most 360 logical pixels, in the theme's colours.
void show_tip(const std::string& text, const ViewTools& tools);

} // namespace headscope::app
