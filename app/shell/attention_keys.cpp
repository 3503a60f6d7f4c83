#include "app/shell/attention_keys.h"

#include "app/views/given_weights.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace headscope::app {

namespace {

bool held(int key) {
    return ImGui::IsKeyPressed(key, true);
}

/// The weight beside or below the one that is spoken of.
void step_weight(const AppState& state, const Sink& send, int rows, int cols) {
    auto cell = spoken_of(state.shown, state.view);
    if (!cell)
        return;
    const TensorInfo& info = tensor_info(cell->tensor);
    const Dims& dims = state.shown.dims();
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(info.rank()); ++axis) {
        if (info.axes[axis] == Axis::Tq)
            cell->at[axis] = std::clamp<std::int64_t>(cell->at[axis] + rows, 0, dims.Tq - 1);
        if (info.axes[axis] == Axis::Tk)
            cell->at[axis] = std::clamp<std::int64_t>(cell->at[axis] + cols, 0, dims.Tk - 1);
    }
    send(ViewChange(Select{cell}));
}

} // namespace

void zoom_map_keys(const Sink& send) {
    if (held(GLFW_KEY_EQUAL) || held(GLFW_KEY_KP_ADD))
        send(ViewChange(AttentionChange(ZoomMap{2})));
    if (held(GLFW_KEY_MINUS) || held(GLFW_KEY_KP_SUBTRACT))
        send(ViewChange(AttentionChange(ZoomMap{0.5F})));
}

// What would do nothing to the weights has no key.
void reading_keys(const AppState& state, const Sink& send) {
    const auto change = [&](const AttentionChange& wanted) { send(ViewChange(wanted)); };
    const AttentionView& view = state.view.attention;
    const bool shift = ImGui::GetIO().KeyShift;
    const bool slides = given_weights(state) == nullptr &&
                        (state.view.group == StageGroup::split || state.view.group == StageGroup::concat);
    struct Key {
        int key;
        bool shifted;
        bool analysis::ReadingOptions::*option;
    };
    for (const auto& [key, shifted, option] :
         {Key{GLFW_KEY_F, false, &analysis::ReadingOptions::hide_first_token},
          Key{GLFW_KEY_S, false, &analysis::ReadingOptions::hide_special_tokens},
          Key{GLFW_KEY_P, false, &analysis::ReadingOptions::merge_words},
          Key{GLFW_KEY_M, true, &analysis::ReadingOptions::means}})
        if (shift == shifted && view.possible.*option && !(key == GLFW_KEY_S && slides) &&
            ImGui::IsKeyPressed(key, false)) {
            analysis::ReadingOptions how = view.reading;
            how.*option = !(how.*option);
            change(ReadWeights{how});
        }
    if (shift && ImGui::IsKeyPressed(GLFW_KEY_C, false))
        change(SetLogColours{!view.log_colours});
}

void attention_keys(const AppState& state, const Sink& send) {
    const auto change = [&](const AttentionChange& wanted) { send(ViewChange(wanted)); };
    struct Arrow {
        int key, rows, cols;
    };
    for (const auto& [key, rows, cols] : {Arrow{GLFW_KEY_RIGHT, 0, 1}, Arrow{GLFW_KEY_LEFT, 0, -1},
                                          Arrow{GLFW_KEY_DOWN, 1, 0}, Arrow{GLFW_KEY_UP, -1, 0}}) {
        if (!held(key))
            continue;
        if (ImGui::GetIO().KeyShift)
            step_weight(state, send, rows, cols);
        else
            change(MoveOnBoard{rows, cols});
    }
    if (held(GLFW_KEY_B))
        change(ShowBoard{!state.view.attention.board});
    zoom_map_keys(send);
    if (held(GLFW_KEY_0) || held(GLFW_KEY_KP_0))
        change(WholeMap{});
    reading_keys(state, send);
    const std::int64_t H = given_weights(state)->info().own_heads();
    for (int digit = 0; digit < std::min<int>(9, static_cast<int>(H)); ++digit)
        if (held(GLFW_KEY_1 + digit) || held(GLFW_KEY_KP_1 + digit))
            send(ViewChange(PickHead{digit}));
    const std::pair<int, WeightsView> ways[] = {{GLFW_KEY_A, WeightsView::arcs},
                                                {GLFW_KEY_T, WeightsView::text},
                                                {GLFW_KEY_G, WeightsView::graph},
                                                {GLFW_KEY_W, WeightsView::heatmap}};
    for (const auto& [key, way] : ways)
        if (held(key))
            send(ViewChange(ShowWeightsAs{way}));
    const bool shift = ImGui::GetIO().KeyShift;
    const std::pair<int, HeadsView> kinds[] = {
        {GLFW_KEY_E, HeadsView::each}, {GLFW_KEY_D, HeadsView::difference}, {GLFW_KEY_M, HeadsView::mean}};
    for (const auto& [key, kind] : kinds)
        if (held(key) && !(shift && key == GLFW_KEY_M))
            send(ViewChange(ShowHeads{kind}));
    if (held(GLFW_KEY_N))
        send(ViewChange(ShowNumbers{!state.view.numbers}));
    if (held(GLFW_KEY_O))
        send(ViewChange(SetSameScale{!state.view.same_scale}));
    if (held(GLFW_KEY_C) && !shift)
        send(ViewChange(
            SetColourMap{static_cast<ColourMap>((static_cast<int>(state.view.colour_map) + 1) % 5)}));
    if (held(GLFW_KEY_L))
        send(ViewChange(SetDark{!state.view.dark}));
}

} // namespace headscope::app
