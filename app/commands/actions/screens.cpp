#include "app/commands/actions/rows.h"
#include "app/state/screens/long_map.h"

#include <algorithm>

namespace headscope::app {

namespace {

Actions flip_head_grid(const ActionContext& now) {
    return {ShowHeadGrid{!now.view.attention.head_grid_open}};
}

bool has_screens(const ActionContext& now) {
    return now.checkpoint;
}

std::string needs_atlas(const ActionContext& now) {
    return !now.long_document || now.weights_file || now.checkpoint
               ? ""
               : tr("screens.all_heads_many_tokens", "All heads of so many tokens do not fit in memory");
}

bool on_atlas(const ActionContext& now) {
    return now.view.attention.screen == Screen::atlas;
}

Actions pin_open_head(const ActionContext& now) {
    return {PinHead{{now.view.attention.layer, now.view.head}}};
}

std::function<Actions(const ActionContext&)> score_list(AtlasMenu of) {
    return always_send(OpenAtlasMenu{of});
}

bool has_map(const ActionContext& now) {
    return now.weights_file || now.checkpoint || !now.weights_alone;
}
std::string needs_long_text(const ActionContext& now) {
    return now.long_document || std::max(now.problem.dims.Tq, now.problem.dims.Tk) >= min_map_tokens
               ? ""
               : tr("screens.map_tokens_more", "The map needs {} tokens or more", min_map_tokens);
}

std::string needs_flow(const ActionContext& now) {
    return now.why_no_flow;
}

std::string needs_kept_stages(const ActionContext& now) {
    return now.long_document ? tr("screens.patching_needs_shorter_prompt",
                                  "Patching needs a shorter prompt, whose stages fit in memory")
                             : "";
}

} // namespace

std::vector<ActionInfo> screen_actions() {
    return {
        // clang-format off
        {"flow screen", tr("common.flow", "Flow"), tr("screens.shows_whole_attention", "Shows the whole attention as one picture that plays"), {ctrl(digit(1))}, anywhere, always_send(ShowScreen{Screen::flow}), needs_flow, tr("screens.whole_attention_picture", "the whole attention as one picture")},
        {"stages screen", tr("common.stages", "Stages"), tr("screens.shows_walk_through_numbers", "Shows the numbers stage by stage"), {ctrl(digit(2))}, anywhere, always_send(ShowScreen{Screen::stages}), needs_stages_of_text, tr("screens.stages_problem", "the stages of this problem")},
        {"atlas screen", tr("common.atlas", "Atlas"), tr("screens.shows_all_heads_measurably", "Shows all heads by their measured behavior"), {ctrl(digit(3))}, anywhere, always_send(ShowScreen{Screen::atlas}), needs_atlas, tr("screens.all_heads_measurably", "all heads by their measured behavior")},
        {"effects screen", tr("common.effects", "Effects"), tr("screens.shows_every_head_prediction", "Shows the effect of every head on the prediction"), {ctrl(digit(4))}, has_screens, always_send(ShowScreen{Screen::effects}), {}, tr("screens.every_head_prediction", "the effect of every head on the prediction")},
        {"patching screen", tr("common.patching", "Patching"), tr("screens.shows_prompt_brings_answer", "Shows which vectors of this prompt restore its answer in another prompt"), {ctrl(digit(5))}, has_screens, always_send(ShowScreen{Screen::patching}), needs_kept_stages, tr("screens.vectors_bring_answer_back", "which vectors restore the answer in another prompt")},
        {"circuits screen", tr("common.circuits", "Circuits"), tr("screens.shows_head_weights_alone", "Shows the behavior of a head by its parameters alone"), {ctrl(digit(6))}, has_screens, always_send(ShowScreen{Screen::circuits}), {}, tr("screens.head_weights_alone", "the behavior of a head by its parameters")},
        {"map screen", tr("common.map", "Map"), tr("screens.shows_weights_one_head", "Shows the weights of one head as a map of any length"), {ctrl(digit(7))}, has_map, always_send(ShowScreen{Screen::map}), needs_long_text, tr("screens.map_long_text", "the map of a long text")},
        {"pin head", tr("screens.pin_open_head", "Pin the open head"), tr("screens.pins_open_head_takes", "Pins the open head, or unpins it: pinned heads are compared"), {alt('P')}, on_atlas, pin_open_head, {}, tr("screens.atlas_pin_open_head", "on the atlas: pin the open head, clear the selection")},
        {"all heads", tr("common.all_heads", "All heads"), tr("screens.takes_back_brush_search", "Clears the selection by rectangle, search and label; so does Esc"), {alt('A')}, on_atlas, always_send(ChooseAllHeads{}), {}, ""},
        {"atlas colour", tr("screens.score_colours_board", "Score that colors the grid"), tr("screens.opens_list_scores_colours", "Opens the list of scores for the colors of the tiles"), {alt('C')}, on_atlas, score_list(AtlasMenu::colour), {}, tr("screens.atlas_scores_colours_axis", "on the atlas: scores for colors, horizontal axis, vertical axis")},
        {"atlas across", tr("screens.score_axis_across", "Score of the horizontal axis"), tr("screens.opens_list_scores_axis", "Opens the list of scores for the horizontal axis"), {alt('H')}, on_atlas, score_list(AtlasMenu::x), {}, ""},
        {"atlas up", tr("screens.score_axis_up", "Score of the vertical axis"), tr("screens.opens_list_scores_axis_2", "Opens the list of scores for the vertical axis"), {alt('V')}, on_atlas, score_list(AtlasMenu::y), {}, ""},
        {"board beside stages", tr("screens.board_all_heads", "Grid of all heads"), tr("screens.shows_hides_board_beside", "Shows or hides the grid of heads beside the stages of a checkpoint"), {ctrl('B')}, has_screens, flip_head_grid, {}, tr("screens.show_hide_board_beside", "show or hide the grid beside the stages")},
        {"board", tr("screens.board_all_heads", "Grid of all heads"), tr("screens.shows_hides_all_heads", "Shows or hides all heads beside the open one"), {{letter('B')}}, weights_only, flip_head_grid, {}, tr("screens.show_hide_board_all", "show or hide the grid of all heads")},
        // clang-format on
    };
}

} // namespace headscope::app
