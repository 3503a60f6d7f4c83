#pragma once

#include "app/commands/action_context.h"
#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// Adds the buttons for theme and help at the right end of a toolbar.
void add_icon_buttons(const AppState& state, Picture& picture, const ViewTools& tools, float right);

/// The first and last visible layer of a grid of heads.
struct VisibleLayers {
    std::int64_t first = 0, last = 0;
};

// One function per panel. Each draws into a rectangle of the window, in logical pixels, reads the state and
// sends actions. None of them computes or changes anything else.

/// The sentence and all settings of the attention inputs; engine badge, theme and help.
void view_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The current engine and its time; a click lists the available engines. `right`: its right edge. Returns its
/// width in logical pixels.
float view_engine_badge(const AppState& state, float right, const ViewTools& tools);
/// The toolbar of a checkpoint: its name, the prompt, and the button of the grid of heads.
void view_model_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The strip of stages, or of the other content of the canvas. With at least low_live_strip_height, stages
/// have small pictures of their numbers.
void view_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The canvas. Writes the cell under the mouse to `hovered` and the picture to `kept`, for reports and tests.
void view_canvas(const AppState& state, const figure::Rect& area, const ViewTools& tools,
                 std::optional<CellAddress>& hovered, Picture& kept);
/// Notices over the canvas, placed where the drawn picture has free space: effects of the last command that
/// are not visible, results of file operations (for a moment), and errors.
void view_canvas_notices(const AppState& state, const figure::Rect& canvas, const Picture& drawn,
                         const ViewTools& tools);
/// Guide, tensors and heads, or the collapsed panel's button that opens them.
void view_left_panel(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools);
/// The page of the open lesson next to a presented canvas.
void view_presented_lesson(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The arithmetic of the current cell, or the collapsed panel. Writes the cell under the mouse to `hovered`.
void view_inspector(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools,
                    std::optional<CellAddress>& hovered);
/// The input field of the selected number, if the user can edit it. Returns its height.
float view_number_field(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// Playback, scrubber, speed and the dimensions.
void view_bottom_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The open manual, in place of the left panel. Updates its search text and scroll position.
void view_manual(const AppState& state, const figure::Rect& area, ManualPanel& panel, const ViewTools& tools);
/// The settings, over everything. Each sends the action that other controls for it send. `tools.focus` is the
/// dialog's focus ring.
void view_settings(const AppState& state, const ViewTools& tools);
/// The context menu at the mouse, with the actions for the thing under it.
void view_context_menu(const ActionContext& now, ContextMenu& menu, const ViewTools& tools);
/// The list of keys, over everything else.
void view_help(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// The open command palette, over everything. `now`: the context for which its entries send actions.
void view_palette(const AppState& state, const ActionContext& now, Palette& palette, const ViewTools& tools);
/// The open search field at the top of the canvas, which searches the picture drawn last.
void view_find(const AppState& state, const figure::Rect& canvas, const Picture& drawn, Find& find,
               const ViewTools& tools);

// The same panels for attention weights from a file, which have one stage and are read-only.

void view_attention_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
void view_attention_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools);
void view_attention_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The grid of heads and the open head side by side, for weights or a checkpoint's layer. Writes the visible
/// layers to `rows`.
void view_attention_canvas(const AppState& state, const figure::Rect& area, const ViewTools& tools,
                           std::optional<CellAddress>& hovered, Picture& kept, VisibleLayers& rows);

/// With small pictures of the stages, the strip is higher: `live`, in a low window `low_live`.
inline constexpr float live_strip_height = 68, low_live_strip_height = 54;
inline constexpr float toolbar_height = 52, strip_height = 44, bottom_height = 56, rail_width = 44;
inline constexpr float panel_pad = 24;

/// The steps of the scrubber: all steps for attention inputs; for a checkpoint those of the open layer, or
/// those before or after the layers.
const std::vector<StageGroup>& scrubber_steps(const ViewState& view);
/// The scrubber's position for a view, in steps: 6 is step 6 as a whole; the rows of step 6 lie between 5 and
/// 6.
float scrubber_position(const ViewState& view, const Dims& dims);
/// The step and row at a position.
GoTo scrubber_target(const ViewState& view, float place, const Dims& dims);

} // namespace headscope::app
