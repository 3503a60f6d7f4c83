#include "app/draw/pages/attention_pages.h"
#include "app/shell/control/requests/requests.h"
#include "app/state/screens/long_map.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

std::string needs_screen(const AppState& state, Screen screen) {
    return screen_of(state.shown, state.view) == screen
               ? ""
               : tr("screen_requests.other_screen",
                    "This belongs to another screen; the request \"screen\" opens it");
}
std::string needs_atlas_on_screen(const AppState& state) {
    return needs_screen(state, Screen::atlas);
}
std::string needs_map_on_screen(const AppState& state) {
    return state.shown.map != nullptr ? needs_screen(state, Screen::map)
                                      : tr("screen_requests.needs_map", "No map of a long text is on screen");
}
std::string needs_flow_on_screen(const AppState& state) {
    return needs_screen(state, Screen::flow);
}
std::string needs_patching_on_screen(const AppState& state) {
    return needs_screen(state, Screen::patching);
}
std::string needs_circuits_on_screen(const AppState& state) {
    return needs_screen(state, Screen::circuits);
}

analysis::HeadScore score_in(const RequestValue& value) {
    std::vector<std::string_view> ids;
    std::ranges::transform(analysis::head_scores(), std::back_inserter(ids), &analysis::HeadScoreInfo::id);
    return analysis::head_scores()[value.choice(ids)].score;
}

GridHead grid_head_in(const AppState& state, const RequestValue& value) {
    const AttentionInfo& info = state.head_grid->info();
    value.allow({"layer", "head"});
    return {value.at("layer").whole(0, info.L - 1), value.at("head").whole(0, info.H - 1)};
}

void show_in_atlas(Program& program, const RequestValue& value) {
    constexpr std::array<std::string_view, 3> panes{"scatter", "similarity", "list"},
        tabs{"text", "survey", "compare"};
    if (!value.is_object())
        fail_input(tr("screen_requests.atlas_object", "\"atlas\" takes an object with fields, for example {}",
                      R"({"color": "entropy"})"));
    value.allow(
        {"color", "x", "y", "sort", "search", "pin", "pane", "tab", "stretched", "brush", "threshold"});
    for (const auto& [field, menu] :
         {std::pair("color", AtlasMenu::colour), std::pair("x", AtlasMenu::x), std::pair("y", AtlasMenu::y)})
        if (const auto score = value.find(field))
            program.act(ChooseScore{menu, score_in(*score)});
    if (const auto score = value.find("sort"))
        program.act(SortHeads{score_in(*score)});
    if (const auto search = value.find("search"))
        program.act(SearchHeads{search->text()});
    if (const auto pin = value.find("pin"))
        program.act(PinHead{grid_head_in(program.state(), *pin)});
    if (const auto pane = value.find("pane"))
        program.act(ShowAtlasPane{static_cast<AtlasPane>(pane->choice(panes))});
    if (const auto tab = value.find("tab"))
        program.act(ShowAtlasTab{static_cast<AtlasTab>(tab->choice(tabs))});
    if (const auto stretched = value.find("stretched"))
        program.act(StretchAxes{stretched->on()});
    if (const auto brush = value.find("brush")) {
        brush->allow({"score", "from", "to"});
        program.act(BrushScores{
            {{score_in(brush->at("score")), brush->at("from").single(), brush->at("to").single()}}});
    }
    if (const auto threshold = value.find("threshold")) {
        threshold->allow({"score", "from"});
        program.act(SetThreshold{score_in(threshold->at("score")), threshold->at("from").single()});
    }
}

void go_to_weight(Program& program, const RequestValue& value) {
    const Dims& dims = program.state().document->problem.dims;
    value.allow({"query", "key"});
    program.act(GoToWeight{value.at("query").whole(0, dims.Tq - 1), value.at("key").whole(0, dims.Tk - 1)});
}

void mark_pattern(Program& program, const RequestValue& value) {
    const std::string name = value.text();
    std::vector<std::string> names;
    for (const Pattern& pattern : patterns())
        if (!pattern.label.empty())
            names.emplace_back(pattern.label.english);
    if (!name.empty() && std::ranges::find(names, name) == names.end())
        fail_input(tr("screen_requests.no_pattern", "there is no pattern \"{}\"; the patterns are {}", name,
                      joined(names, {})));
    if (program.state().view.attention.pattern != name)
        program.act(MarkPattern{name});
}

void ask_patching(Program& program, const RequestValue& value) {
    std::vector<std::string_view> kinds{"paths"};
    std::ranges::transform(analysis::patch_kinds(), std::back_inserter(kinds), &analysis::PatchKindInfo::id);
    value.allow({"prompt", "kind"});
    if (const auto prompt = value.is_object() ? value.find("prompt") : std::optional(value))
        program.act(AskPatching{.corrupted = prompt->text()});
    if (const auto kind = value.find("kind")) {
        const std::size_t chosen = kind->choice(kinds);
        program.act(chosen == 0 ? AskPatching{.paths = true}
                                : AskPatching{.kind = analysis::patch_kinds()[chosen - 1].kind});
    }
}

/// Row and column of a cell of the patching map.
std::array<std::int64_t, 2> patch_in(const AppState& state, const RequestValue& value) {
    const PatchingView* const view = state.shown.patching.get();
    if (view == nullptr || view->map == nullptr || view->map->cells.empty())
        fail_input(tr("screen_requests.no_patching_map",
                      "there is no patching map yet; give the second prompt with \"patching\""));
    value.allow({"row", "column", "open"});
    const auto rows = std::ssize(view->map->cells), columns = std::ssize(view->map->cells.front());
    return {value.at("row").whole(0, rows - 1), value.at("column").whole(0, columns - 1)};
}

void pick_patch(Program& program, const RequestValue& value) {
    const auto [row, column] = patch_in(program.state(), value);
    program.act(PickPatch{row, column});
    const auto opens = value.find("open");
    if (!opens || !opens->on())
        return;
    if (!can_open(*program.state().shown.patching->map, row, column))
        fail_input(tr("screen_requests.no_run_of_patch", "this cell of the patching map has no run to open"));
    program.act(OpenPatch{row, column});
}

void ask_circuits(Program& program, const RequestValue& value) {
    value.allow({"token", "through-mlp", "threshold"});
    AskCircuits asked;
    if (const auto token = value.is_object() ? value.find("token") : std::optional(value))
        asked.word = token->text();
    if (const auto through = value.find("through-mlp"))
        asked.through_mlp = through->on();
    if (const auto threshold = value.find("threshold")) {
        asked.threshold = threshold->single();
        if (*asked.threshold < 0 || *asked.threshold > 1)
            fail_input(tr("screen_requests.threshold", "\"threshold\" should be from 0 to 1"));
    }
    program.act(asked);
}

std::string needs_terms_on_screen(const AppState& state) {
    return needs_screen(state, Screen::why);
}

std::string needs_sources_on_screen(const AppState& state) {
    return state.view.attention.effects == EffectKind::by_source
               ? needs_screen(state, Screen::effects)
               : tr("screen_requests.needs_sources",
                    "This belongs to the effects by source token; the screen \"by-source\" has them");
}

void open_flow_parameters(Program& program, const RequestValue& value) {
    constexpr std::array<std::string_view, 3> names{"W_Q", "W_K", "W_V"};
    constexpr std::array ids{TensorId::W_Q, TensorId::W_K, TensorId::W_V};
    program.act(OpenFlowParameters{ids.at(value.choice(names))});
}

std::string needs_flow_of_sentence(const AppState& state) {
    const std::string missing = needs_flow_on_screen(state);
    return missing.empty() ? needs_sentence_input(state) : missing;
}

std::string needs_grid_for_patterns(const AppState& state) {
    return state.head_grid != nullptr ? "" : needs_heads_of_layers(state);
}

} // namespace

std::vector<Request> screen_requests() {
    return {
        // clang-format off
        {"weight", "an object with `query`, `key` and optionally `why`",
         "shows a weight of the open head in its map, with `\"why\": true` the terms of its score",
         [](Program& program, const RequestValue& value) {
             const Dims& dims = program.state().document->problem.dims;
             value.allow({"query", "key", "why"});
             const auto why = value.find("why");
             const Screen screen = why && why->on() ? Screen::why : Screen::stages;
             if (!has_screen(*program.state().document, screen))
                 fail_input(tr("view_requests.no_screen", "this document does not have the screen \"{}\"", "why"));
             program.act(ShowWeight{value.at("query").whole(0, dims.Tq - 1), value.at("key").whole(0, dims.Tk - 1), screen});
         }, needs_numbers_on_screen},
        {"pattern", "NAME", "marks the heads of the grid with this pattern, such as `induction`; empty: none", mark_pattern, needs_grid_for_patterns},
        {"atlas", "an object with one or more of `color`, `x`, `y`, `sort` (scores), `search`, `pin` (`layer` and `head`), `pane`, `tab`, `stretched`, `brush` (`score`, `from` and `to`) and `threshold` of a label (`score` and `from`)",
         "settings of the [atlas](atlas.md)", show_in_atlas, needs_atlas_on_screen},
        {"map weight", "an object with `query` and `key`", "selects a weight on the [map of a long text](maps.md) and shows it", go_to_weight, needs_map_on_screen},
        {"map reading", "`on`, `paused` or `off`", "the pass over all weights of the map",
         [](Program& program, const RequestValue& value) {
             constexpr std::array<std::string_view, 3> names{"on", "paused", "off"};
             program.act(ReadMap{static_cast<MapReading>(value.choice(names))});
         }, needs_map_on_screen},
        {"flow word", "a number", "the word in focus on the [Flow](flow.md)",
         [](Program& program, const RequestValue& value) {
             const std::int64_t word = value.whole(0, program.state().document->problem.dims.Tq - 1);
             if (program.state().document->is_checkpoint())
                 program.act(PredictAt{word});
             else
                 program.act(FocusFlowWord{word});
         }, needs_flow_on_screen},
        {"flow time", "a number", "an instant of the Flow’s story, in seconds of motion",
         [](Program& program, const RequestValue& value) { program.act(SetFlowTime{value.single()}); }, needs_flow_on_screen},
        {"flow guess", "a number", "lists the best guesses before the layers (0) or after layer l (l + 1)",
         [](Program& program, const RequestValue& value) {
             if (const std::string missing = needs_checkpoint(program.state()); !missing.empty())
                 fail_input(missing);
             program.act(ShowFlowGuess{value.whole(0, program.state().head_grid == nullptr ? 0 : program.state().head_grid->info().own_layers())});
         }, needs_flow_on_screen},
        {"flow parameters", "`W_Q`, `W_K` or `W_V`", "opens the matrix in the Flow of a sentence; a second time closes it", open_flow_parameters, needs_flow_of_sentence},
        {"components", "`joined` or `separate`", "joins the heads of a layer where a [score is split](effects.md#terms-of-a-score), or separates them",
         [](Program& program, const RequestValue& value) {
             constexpr std::array<std::string_view, 2> names{"joined", "separate"};
             program.act(JoinComponents{value.choice(names) == 0});
         }, needs_terms_on_screen},
        {"source tokens", "a number", "the first of the source tokens on screen",
         [](Program& program, const RequestValue& value) {
             program.act(ShowSourceTokens{value.whole(0, program.state().document->problem.dims.Tk - 1)});
         }, needs_sources_on_screen},
        {"patching", "TEXT, or an object with `prompt` and `kind`", "the second prompt of [patching](effects.md#activation-patching), and what is patched, by the names of `--patched` of `headscope render`",
         ask_patching, needs_patching_on_screen, RepeatedRequest::prompt},
        {"patch", "an object with `row`, `column` and optionally `open`", "selects a cell of the patching map; with `\"open\": true` shows its run", pick_patch, needs_patching_on_screen},
        {"circuits", "TEXT, or an object with `token`, `through-mlp` and `threshold`", "the question about the weights of the open head", ask_circuits, needs_circuits_on_screen},
        // clang-format on
    };
}

} // namespace headscope::app
