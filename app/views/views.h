#pragma once

#include "app/commands/situation.h"
#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// Theme and help, at the right end of a toolbar.
void add_icon_buttons(const AppState& state, Picture& picture, const ViewTools& tools, float right);

/// Layers of a board, first and last.
struct LayersInSight {
    std::int64_t first = 0, last = 0;
};

// One function per panel. Each draws into a place of the window given in logical pixels, reads the state and
// sends actions; none computes or changes anything else. `area` is relative to the window.

/// The sentence and everything that decides the problem; the engine badge, theme and help.
void view_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The engine that computes, its time, and on a click what there is to choose from. `right`: its right edge.
/// Returns its width in logical pixels.
float view_engine_badge(const AppState& state, float right, const ViewTools& tools);
/// The same while a checkpoint is open: its name, the prompt, the board's button.
void view_model_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The strip of stages, or of what the canvas holds instead.
void view_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The canvas. Writes the cell under the mouse to `hovered`, and keeps the picture for reports and tests.
void view_canvas(const AppState& state, const figure::Rect& area, const ViewTools& tools,
                 std::optional<CellAddress>& hovered, Picture& kept);
/// Over the canvas, beside what was drawn there: what the last command did beside what can be seen, what
/// became of a file, for a moment, and what could not be done.
void view_canvas_notices(const AppState& state, const figure::Rect& canvas, const Picture& drawn,
                         const ViewTools& tools);
/// Guide, tensors and heads; or the rail that opens it again.
void view_left_panel(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools);
/// The page of the open lesson beside a presented canvas.
void view_presented_lesson(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The arithmetic of the cell that is spoken of; or its rail. Writes a cell under the mouse to `hovered`.
void view_inspector(const AppState& state, const figure::Rect& area, bool open, const ViewTools& tools,
                    std::optional<CellAddress>& hovered);
/// Where the selected number can be typed, when it is one that the user owns. Returns the height it takes.
float view_number_field(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// Playback, scrubber, speed and the sizes of the problem.
void view_bottom_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// In the left panel's place: the manual, which is open. Writes what is typed and how far the page is
/// scrolled.
void view_manual(const AppState& state, const figure::Rect& area, ManualPanel& panel, const ViewTools& tools);
/// Over everything: what can be set, each by the action that sets it elsewhere too. `tools.focus` is the ring
/// of dialogs.
void view_settings(const AppState& state, const ViewTools& tools);
/// At the mouse: what can be done with the thing that it is about.
void view_context_menu(const Situation& now, ContextMenu& menu, const ViewTools& tools);
/// The keyboard, over everything else.
void view_help(const AppState& state, const figure::Rect& area, const ViewTools& tools);

/// Over everything: the command palette, which is open. `now`: for what its entries send.
void view_palette(const AppState& state, const Situation& now, Palette& palette, const ViewTools& tools);
/// At the top of the canvas: the open field of what is to be found, in what was drawn last.
void view_find(const AppState& state, const figure::Rect& canvas, const Picture& drawn, Find& find,
               const ViewTools& tools);

// The same places while attention weights of a file are shown, which have one stage and cannot be edited.

void view_attention_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
void view_attention_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools);
void view_attention_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools);
/// The board and the open head side by side, of weights or of a checkpoint's layer. Writes the layers that
/// are in sight to `rows`.
void view_attention_canvas(const AppState& state, const figure::Rect& area, const ViewTools& tools,
                           std::optional<CellAddress>& hovered, Picture& kept, LayersInSight& rows);

inline constexpr float toolbar_height = 52, strip_height = 44, bottom_height = 56, rail_width = 44;
inline constexpr float panel_pad = 24;

/// The stops of the scrubber: of a problem all, of a checkpoint those of the open layer, or those before or
/// after the layers.
const std::vector<StageGroup>& stops_of_track(const ViewState& view);
/// The scrubber's place for a view, in stops: 6 is the whole of stop 6; between 5 and 6 lie the rows of
/// stop 6.
float scrubber_place(const ViewState& view, const Dims& dims);
/// And the stop and row at a place.
GoTo scrubber_target(const ViewState& view, float place, const Dims& dims);

} // namespace headscope::app
