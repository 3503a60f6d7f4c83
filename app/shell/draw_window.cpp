#include "app/shell/draw_window.h"

#include "app/state/screens/screen.h"
#include "app/views/files/file_views.h"
#include "app/views/given_weights.h"
#include "app/views/presentation/presentation.h"
#include "app/views/presentation/presented_bars.h"
#include "app/views/views.h"

namespace headscope::app {

namespace {

/// Toolbar, strip, panels and bottom bar.
void draw_around_canvas(AppState& state, const ProgramLayout& places, const ViewTools& tools,
                        std::optional<CellAddress>& hovered) {
    const bool traced = state.shown.trace != nullptr;
    if (state.document->is_checkpoint())
        view_model_toolbar(state, places.toolbar, tools);
    else if (state.document->is_given())
        view_attention_toolbar(state, places.toolbar, tools);
    else
        view_toolbar(state, places.toolbar, tools);
    if (traced && state.shown.document->shows_weights() && shows_only_weights(state) &&
        screen_of(state.shown, state.view) == Screen::stages)
        view_attention_strip(state, places.canvas_head, tools);
    else if (state.shown.ready())
        view_strip(state, places.canvas_head, tools);
    if (!state.manual.open || !places.left_open)
        view_left_panel(state, places.left, places.left_open, tools);
    view_inspector(state, places.inspector, places.inspector_open, tools, hovered);
    if (state.number.active)
        hovered.reset(); // show the number that is being typed
    if (shows_only_weights(state) && screen_of(state.shown, state.view) != Screen::map)
        view_attention_bar(state, places.bottom, tools);
    else
        view_bottom_bar(state, places.bottom, tools);
    if (state.manual.open)
        view_manual(state, places.manual, state.manual, tools);
    view_splitters(places, state, tools);
}

/// The lesson, the sentence and the prediction.
void draw_around_presented(AppState& state, const ProgramLayout& places, const ViewTools& tools) {
    if (places.left_open)
        view_presented_lesson(state, places.left, tools);
    if (places.toolbar.h > 0)
        view_presented_sentence(state, places.toolbar, state.presentation, tools);
    if (places.bottom.h > 0)
        view_presented_prediction(state, places.bottom, tools);
}

} // namespace

std::optional<CellAddress> draw_window(AppState& state, Session& session, const ProgramLayout& places,
                                       const ActionContext& now, const ViewTools& tools, FocusRing& dialogs,
                                       Picture& canvas) {
    std::optional<CellAddress> hovered;
    view_canvas(state, places.canvas, tools, hovered, canvas);
    // A document without its own trace is shown as the previous one.
    if (state.document->has_head_grid() && state.shown.ready() && state.shown.document->has_head_grid()) {
        VisibleLayers rows;
        view_attention_canvas(state, places.canvas, tools, hovered, canvas, rows);
        session.set_visible_layers(rows.first, rows.last);
    }
    view_canvas_notices(state, places.canvas, canvas, tools);
    if (!state.presentation.on)
        draw_around_canvas(state, places, tools, hovered);
    else
        draw_around_presented(state, places, tools);
    if (state.presentation.on && places.inspector_open)
        view_inspector(state, places.inspector, true, tools, hovered);
    if (state.find.open)
        view_find(state, places.canvas, canvas, state.find, tools);
    if (state.view.help_open)
        view_help(state, places.window, tools);
    view_context_menu(now, state.menu, tools);
    if (state.palette.open)
        view_palette(state, now, state.palette, tools);
    const ViewTools dialog_tools{.surface = tools.surface,
                                 .focus = dialogs,
                                 .theme = tools.theme,
                                 .measure = tools.measure,
                                 .send = tools.send,
                                 .chooser = state.files.chooser ? &*state.files.chooser : nullptr,
                                 .hub = state.files.hub ? &*state.files.hub : nullptr};
    if (state.files.dialog_open())
        view_file_dialogs(state, dialog_tools);
    else if (state.settings_open)
        view_settings(state, dialog_tools);
    if (state.presentation.on)
        view_presentation(state.presentation, places.window, tools);
    return hovered;
}

} // namespace headscope::app
