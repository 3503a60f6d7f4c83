#include "app/commands/actions/rows.h"
#include "app/state/screens/long_map.h"

#include <algorithm>

namespace headscope::app {

namespace {

Actions flip_board(const Situation& now) {
    return {ShowBoard{!now.view.attention.board}};
}

bool has_screens(const Situation& now) {
    return now.checkpoint;
}

std::string needs_atlas(const Situation& now) {
    return !now.long_document || now.weights_file || now.checkpoint
               ? ""
               : tr("All heads of so many tokens are too large to be held");
}

bool on_atlas(const Situation& now) {
    return now.view.attention.screen == Screen::atlas;
}

Actions pin_open_head(const Situation& now) {
    return {PinHead{{now.view.attention.layer, now.view.head}}};
}

std::function<Actions(const Situation&)> score_list(AtlasMenu of) {
    return just(OpenAtlasMenu{of});
}

bool has_map(const Situation& now) {
    return now.weights_file || now.checkpoint || !now.weights_alone;
}
std::string needs_long_text(const Situation& now) {
    return now.long_document || std::max(now.problem.dims.Tq, now.problem.dims.Tk) >= map_from
               ? ""
               : tr("The map is for {} tokens and more", map_from);
}

std::string needs_kept_stages(const Situation& now) {
    return now.long_document ? tr("Patching needs a shorter prompt, whose stages are kept") : "";
}

} // namespace

std::vector<ActionInfo> screen_actions() {
    return {
        // clang-format off
        {"stages screen", tr("Stages"), tr("Shows the walk through the numbers"), {ctrl(digit(1))}, anywhere, just(ShowScreen{Screen::stages}), needs_stages_of_text, tr("the stages of this problem")},
        {"atlas screen", tr("Atlas"), tr("Shows all heads by what they measurably do"), {ctrl(digit(2))}, anywhere, just(ShowScreen{Screen::atlas}), needs_atlas, tr("all heads by what they measurably do")},
        {"effects screen", tr("Effects"), tr("Shows what every head does to the prediction"), {ctrl(digit(3))}, has_screens, just(ShowScreen{Screen::effects}), {}, tr("what every head does to the prediction")},
        {"patching screen", tr("Patching"), tr("Shows what of this prompt brings its answer back in another"), {ctrl(digit(4))}, has_screens, just(ShowScreen{Screen::patching}), needs_kept_stages, tr("which vectors bring the answer back in another prompt")},
        {"circuits screen", tr("Circuits"), tr("Shows what a head does by its weights alone"), {ctrl(digit(5))}, has_screens, just(ShowScreen{Screen::circuits}), {}, tr("what a head does by its weights alone")},
        {"map screen", tr("Map"), tr("Shows the weights of one head as a map of any length"), {ctrl(digit(6))}, has_map, just(ShowScreen{Screen::map}), needs_long_text, tr("the map of a long text")},
        {"pin head", tr("Pin the open head"), tr("Pins the open head, or takes the pin out: pinned heads are compared"), {alt('P')}, on_atlas, pin_open_head, {}, tr("on the atlas: pin the open head, choose all heads again")},
        {"all heads", tr("All heads"), tr("Takes back the brush, the search and the label; Esc does, too"), {alt('A')}, on_atlas, just(ChooseAllHeads{}), {}, ""},
        {"atlas colour", tr("Score that colours the board"), tr("Opens the list of scores for the colours of the tiles"), {alt('C')}, on_atlas, score_list(AtlasMenu::colour), {}, tr("on the atlas: scores for the colours, the axis across, the axis up")},
        {"atlas across", tr("Score of the axis across"), tr("Opens the list of scores for the axis across"), {alt('H')}, on_atlas, score_list(AtlasMenu::x), {}, ""},
        {"atlas up", tr("Score of the axis up"), tr("Opens the list of scores for the axis up"), {alt('V')}, on_atlas, score_list(AtlasMenu::y), {}, ""},
        {"board beside stages", tr("Board of all heads"), tr("Shows or hides the board beside the stages of a checkpoint"), {ctrl('B')}, has_screens, flip_board, {}, tr("show or hide the board beside the stages")},
        {"board", tr("Board of all heads"), tr("Shows or hides all heads beside the open one"), {{letter('B')}}, weights_only, flip_board, {}, tr("show or hide the board of all heads")},
        // clang-format on
    };
}

} // namespace headscope::app
