#include "app/shell/attention_keys.h"
#include "app/shell/edit_keys.h"
#include "app/shell/pressed.h"
#include "app/shell/program.h"
#include "app/views/file_views.h"
#include "app/views/given_weights.h"

#include <GLFW/glfw3.h>

#include <cmath>

namespace headscope::app {

namespace {

void zoom_keys(const AppState& state, const Sink& send) {
    const float zoom = state.view.zoom;
    if (pressed(GLFW_KEY_EQUAL) || pressed(GLFW_KEY_KP_ADD))
        send(ViewChange(SetZoom{std::round((zoom + 0.1F) * 10) / 10}));
    if (pressed(GLFW_KEY_MINUS) || pressed(GLFW_KEY_KP_SUBTRACT))
        send(ViewChange(SetZoom{std::round((zoom - 0.1F) * 10) / 10}));
    if (pressed(GLFW_KEY_0) || pressed(GLFW_KEY_KP_0))
        send(ViewChange(SetZoom{1.0F}));
}

void arrow_keys(const Sink& send) {
    if (pressed(GLFW_KEY_RIGHT, true))
        send(ViewChange(StepStage{1}));
    if (pressed(GLFW_KEY_LEFT, true))
        send(ViewChange(StepStage{-1}));
    if (pressed(GLFW_KEY_DOWN, true))
        send(ViewChange(StepRow{1}));
    if (pressed(GLFW_KEY_UP, true))
        send(ViewChange(StepRow{-1}));
}

/// Layers and heads of a checkpoint.
void model_keys(const Sink& send) {
    const auto move = [&](int layers, int heads) {
        send(ViewChange(AttentionChange(MoveOnBoard{layers, heads})));
    };
    if (pressed(GLFW_KEY_PAGE_DOWN, true))
        move(1, 0);
    if (pressed(GLFW_KEY_PAGE_UP, true))
        move(-1, 0);
    if (pressed(GLFW_KEY_PERIOD, true))
        move(0, 1);
    if (pressed(GLFW_KEY_COMMA, true))
        move(0, -1);
}

void page_keys(const Sink& send) {
    if (pressed(GLFW_KEY_PAGE_DOWN))
        send(LessonAction(TurnPage{1}));
    if (pressed(GLFW_KEY_PAGE_UP))
        send(LessonAction(TurnPage{-1}));
}

void step_keys(const Sink& send) {
    if (pressed(GLFW_KEY_SPACE))
        send(ViewChange(TogglePlay{}));
    if (pressed(GLFW_KEY_HOME))
        send(ViewChange(GoTo{StageGroup::x}));
    if (pressed(GLFW_KEY_END))
        send(ViewChange(GoTo{StageGroup::output}));
}

void head_keys(const Sink& send) {
    for (int digit = 0; digit < 9; ++digit)
        if (pressed(GLFW_KEY_1 + digit) || pressed(GLFW_KEY_KP_1 + digit))
            send(ViewChange(PickHead{digit}));
}

void view_keys(const AppState& state, const Sink& send) {
    const ViewState& view = state.view;
    const std::pair<int, WeightsView> ways[] = {{GLFW_KEY_A, WeightsView::arcs},
                                                {GLFW_KEY_T, WeightsView::text},
                                                {GLFW_KEY_G, WeightsView::graph},
                                                {GLFW_KEY_W, WeightsView::heatmap}};
    for (const auto& [key, way] : ways)
        if (pressed(key)) {
            send(ViewChange(GoTo{StageGroup::weights, view.group == StageGroup::weights ? view.row : -1}));
            send(ViewChange(ShowWeightsAs{way}));
        }
    const std::pair<int, HeadsView> heads[] = {
        {GLFW_KEY_E, HeadsView::each}, {GLFW_KEY_D, HeadsView::difference}, {GLFW_KEY_M, HeadsView::mean}};
    const bool reads = state.document->is_checkpoint() && ImGui::GetIO().KeyShift; // Shift M: means
    for (const auto& [key, what] : heads)
        if (pressed(key) && !(reads && what == HeadsView::mean))
            send(ViewChange(ShowHeads{what}));
    const std::pair<int, Projection> projections[] = {
        {GLFW_KEY_Q, Projection::q}, {GLFW_KEY_K, Projection::k}, {GLFW_KEY_V, Projection::v}};
    for (const auto& [key, projection] : projections)
        if (pressed(key)) {
            send(ViewChange(GoTo{StageGroup::qkv, view.group == StageGroup::qkv ? view.row : -1}));
            send(ViewChange(ShowProjection{projection}));
        }
    if (pressed(GLFW_KEY_S) && view.group == StageGroup::concat)
        send(ViewChange(SetJoined{view.joined_target < 0.5F}));
    else if (pressed(GLFW_KEY_S) && (!state.document->is_checkpoint() || view.group == StageGroup::split))
        send(ViewChange(SetApart{view.apart_target < 0.5F}));
    if (pressed(GLFW_KEY_N))
        send(ViewChange(ShowNumbers{!view.numbers}));
    if (pressed(GLFW_KEY_O))
        send(ViewChange(SetSameScale{!view.same_scale}));
    if (pressed(GLFW_KEY_C) && !reads)
        send(ViewChange(SetColourMap{static_cast<ColourMap>((static_cast<int>(view.colour_map) + 1) % 5)}));
    const bool shows_a = effective(state.compare, view.compare) == Compare::baseline;
    const bool shows_change = effective(state.compare, view.compare) == Compare::difference;
    if (pressed(GLFW_KEY_B) && ImGui::GetIO().KeyShift)
        send(MarkBaseline{});
    else if (pressed(GLFW_KEY_B))
        send(ViewChange(SetCompare{shows_a ? Compare::now : Compare::baseline}));
    if (pressed(GLFW_KEY_X))
        send(ViewChange(SetCompare{shows_change ? Compare::now : Compare::difference}));
    const bool own = view.head < state.document->problem.dims.H;
    if (own && (pressed(GLFW_KEY_0) || pressed(GLFW_KEY_KP_0)))
        send(Command(SetGain{view.head, state.document->problem.gain(view.head) == 0.0F ? 1.0F : 0.0F}));
    if (pressed(GLFW_KEY_L))
        send(ViewChange(SetDark{!view.dark}));
}

} // namespace

void handle_shortcuts(AppState& state, FocusRing& focus, const Sink& send) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.KeyCtrl)
        zoom_keys(state, send);
    if (state.files.dialog_open())
        return; // it reads the other keys itself
    file_shortcuts(state, send);
    if (io.KeyCtrl) {
        if (pressed(GLFW_KEY_Z, true) && !io.WantTextInput)
            send(MoveInHistory{io.KeyShift ? 1 : -1});
        if (pressed(GLFW_KEY_Y, true) && !io.WantTextInput)
            send(MoveInHistory{1});
        if (!io.WantTextInput)
            handle_clipboard_keys(state, send);
        return;
    }
    if (pressed(GLFW_KEY_F1))
        send(ViewChange(ShowHelp{!state.view.help_open}));
    if (pressed(GLFW_KEY_ESCAPE)) {
        focus.clear();
        state.error.clear();
        if (state.view.help_open)
            send(ViewChange(ShowHelp{false}));
        else if (!io.WantTextInput)
            send(ViewChange(Select{std::nullopt}));
        send(DismissNotice{});
    }
    if (io.WantTextInput || io.KeyAlt || state.view.help_open ||
        ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
        return;
    // A selected number takes the arrows, Tab and digits for itself.
    const bool editing = !focus.visible() && handle_edit_keys(state, send);
    if (state.number.take_keyboard)
        return;
    if (!editing && pressed(GLFW_KEY_TAB, true))
        focus.move(io.KeyShift ? -1 : 1);
    if (focus.visible() && (pressed(GLFW_KEY_ENTER) || pressed(GLFW_KEY_KP_ENTER)))
        focus.activate();
    if (pressed(GLFW_KEY_SLASH))
        state.focus_sentence = true;
    const bool model = state.document->is_checkpoint();
    if (weights_alone(state)) {
        attention_keys(state, send);
        if (model)
            model_keys(send);
        return;
    }
    if (!editing) {
        arrow_keys(send);
        head_keys(send);
    }
    model ? model_keys(send) : page_keys(send);
    if (model)
        reading_keys(state, send);
    if (model && state.view.group == StageGroup::weights)
        zoom_map_keys(send);
    step_keys(send);
    view_keys(state, send);
}

} // namespace headscope::app
