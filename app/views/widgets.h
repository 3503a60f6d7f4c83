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
/// Receives the user's actions from the views.
using Sink = std::function<void(const Action&)>;

/// The keyboard input for one item of the focus ring.
struct KeyboardInput {
    bool pressed = false; ///< Enter
    ControlSteps steps{}; ///< arrows, Home, End
};

/// Keyboard focus over everything that can be clicked: Tab moves it, Enter clicks, arrows move items that can
/// be dragged. Items register in drawing order in every frame. A newly focused item is scrolled into view.
class FocusRing {
public:
    void begin_frame();
    /// Registers an item (physical pixels). Returns true if Enter was pressed on it.
    bool register_item(const figure::Rect& area);
    /// Registers a text field. Returns true if it should take the keyboard: because the focus moved to it or
    /// Enter was pressed.
    bool register_text_field(const figure::Rect& area);
    /// Registers an item that also takes the arrow keys.
    KeyboardInput register_steppable(const figure::Rect& area);
    /// While nothing has focus, Tab moves to the first text field in this area, otherwise to its first item.
    void set_start_area(const figure::Rect& area) { beginning_ = area; }
    void move(int by) { move_ += by; }
    void activate() { activate_ = true; }
    void step(const ControlSteps& by);
    void clear() { index_ = -1; }
    bool visible() const { return index_ >= 0; }
    /// Returns true if the focused item takes the arrow keys.
    bool takes_steps() const { return visible() && takes_steps_; }
    /// The focused area, in physical pixels, while the ring is visible.
    const figure::Rect& area() const { return focused_; }
    /// Call last, so that the ring is drawn over everything.
    void draw(figure::Color color, float scale) const;

private:
    /// Counts an item and returns true if it has focus: the item at the same position as in the previous
    /// frame, or, after a move or if there is none, the item with the same number.
    bool has_focus(const figure::Rect& area, bool text = false);
    int first_item() const; ///< the number of the item that Tab reaches first, from the previous frame

    int index_ = -1, count_ = 0, previous_count_ = 0, move_ = 0;
    bool activate_ = false, activated_now_ = false, arriving_ = false;
    bool takes_steps_ = false, took_steps_ = false; ///< after the previous frame; in this frame so far
    bool by_number_ = true, found_focused_ = false;
    std::vector<std::pair<figure::Rect, bool>> items_; ///< items of this frame; true: a text field
    figure::Rect beginning_;                           ///< see set_start_area; empty: the first item
    int scrolling_frames_ = 0;         ///< frames in which the newly focused item may still scroll
    int alike_ = 0, alike_passed_ = 0; ///< items with the same area before the focused one; and in this frame
    ControlSteps steps_{}, steps_now_{};
    figure::Rect focused_{};
};

/// The text being typed into one of a picture's fields.
struct FieldEdit {
    std::string label = {}; ///< label of the field; empty: none
    std::string text = {};
    std::string error = {}; ///< reason why the text is invalid; shown until the text changes
    std::string next = {};  ///< label of the field that takes the keyboard in the next frame
};

/// The text being typed for the selected number.
struct NumberEdit {
    std::string text = {};
    bool take_keyboard = false;     ///< the field requests the keyboard
    bool active = false;            ///< the field has the keyboard
    std::string typed_before_focus; ///< typed before the field had the keyboard, including Enter and Tab
};

/// Everything that a view draws with. `field`, `number`, `chooser` and `hub` hold text being typed and belong
/// to the text fields that show it. Views write nothing else of the state.
struct ViewTools {
    Surface& surface;
    FocusRing& focus;
    const Theme& theme;
    const figure::TextMeasure& measure;
    const Sink& send;
    std::function<float(const CellAddress&)> value = {}; ///< of a visible cell; empty: not editable
    /// Returns true if the user replaced the number that a checkpoint computes; empty: none is replaced.
    std::function<bool(const CellAddress&)> is_replaced = {};
    const ViewState* view = nullptr;              ///< null: no selecting by mouse, no painting
    bool keeps_selection = false;                 ///< a click outside all cells keeps the selection
    FieldEdit* field = nullptr;                   ///< null: pictures have no fields
    struct RemovedTexts* removed_texts = nullptr; ///< removed from fields by Esc
    std::string* hovered = nullptr;  ///< receives the label of the hotspot under the mouse; may be null
    NumberEdit* number = nullptr;    ///< null: numbers cannot be typed
    OpenChooser* chooser = nullptr;  ///< while a path is being chosen
    struct HubDialog* hub = nullptr; ///< while a model of the Hub is being chosen
    PixelCache* pixels = nullptr;    ///< null: nothing is cached between frames
    std::function<bool(const CellAddress&)> is_allowed_by_mask =
        {}; ///< true if the current mask allows a cell of scores to weights
};

/// Handles the mouse on a cell: selects it, starts dragging a number, extends a block, or paints the mask.
void react_to_cell(const MatrixGrid& grid, const CellAddress& cell, const ViewTools& tools);
/// Scrolls the current region until an area, in physical pixels, is visible.
void scroll_to(const figure::Rect& area);
/// Shows a picture's field at physical pixels.
void show_field(const TextField& field, const figure::Rect& area, const ViewTools& tools);

/// Converts logical pixels of the current ImGui window to physical pixels of the screen.
figure::Rect physical(const figure::Rect& area, const ViewTools& tools);
/// Paints a scene at the top left corner of the current ImGui window.
void paint_here(const figure::Scene& scene, const ViewTools& tools);
/// Begins a child region of the current ImGui window, as ImGui::BeginChild does.
void begin_region(const char* id, const figure::Rect& area, const ViewTools& tools, int flags = 0);

/// Paints a picture with its origin at the given physical pixel of the current ImGui window and activates its
/// hotspots, tooltips and (with `hovered`) its cells. Writes the hovered cell to `hovered`; a click selects
/// it.
void show_picture(const Picture& picture, float x, float y, const ViewTools& tools,
                  std::optional<CellAddress>* hovered);

/// The number of rows that the keys of this frame move in an open list: ↓ and Tab forward, ↑ and Shift Tab
/// back.
int list_step();
/// Draws a frame around the row of an open list that has keyboard focus, in physical pixels.
void draw_list_focus(const figure::Rect& row, const ViewTools& tools);

/// A drop-down list: caption, value and a chevron in a bordered field at `area` (logical pixels of the
/// current window). `choices` is called while the list is open.
void combo(const std::string& caption, const std::string& value, const figure::Rect& area,
           const std::function<std::vector<Choice>()>& choices, const ViewTools& tools);
/// The preferred width of combo().
float combo_width(const std::string& caption, const std::string& value, const ViewTools& tools);

/// A vertical edge between two regions, moved by the mouse or by the arrow keys while it has focus. `x`,
/// `top`, `height`: logical pixels of the current window. Returns its new x.
float drag_edge(const char* id, float x, float top, float height, const ViewTools& tools);

/// Shows a tooltip, at most 360 logical pixels wide, in the theme's colors.
void show_tip(const std::string& text, const ViewTools& tools);

} // namespace headscope::app
