#include "app/draw/kit/picture.h"
#include "app/shell/control/named_actions.h"
#include "app/shell/control/requests/requests.h"
#include "app/state/block.h"
#include "app/state/screens/screen.h"
#include "app/views/given_weights.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/manual/manual.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

constexpr std::array<std::string_view, 3> stack_ids{"decoder", "encoder", "cross"}; // as in checkpoint::Stack
constexpr std::array<std::string_view, 8> panel_names{"start", "course", "guide",       "tensors",
                                                      "heads", "edit",   "predictions", "prompts"};

void perform_view_actions(Program& program, const Actions& actions) {
    for (const Action& one : actions)
        program.act(one);
}

/// Number of heads of the open layer, with the mean if the weights on screen have one.
std::int64_t heads_of_layer(const AppState& state) {
    return state.head_grid != nullptr ? state.head_grid->info().H : state.document->problem.dims.H;
}

std::int64_t layers_of_stack(const AppState& state) {
    return state.head_grid != nullptr ? state.head_grid->info().L : 1;
}

void open_head_by_number(Program& program, const RequestValue& value) {
    const std::int64_t head = value.whole(0, heads_of_layer(program.state()) - 1);
    if (program.state().document->has_head_grid())
        program.act(OpenHead{program.state().view.attention.layer, head});
    else
        program.act(PickHead{head});
}

void open_layer_by_number(Program& program, const RequestValue& value) {
    const std::int64_t layer = value.whole(0, layers_of_stack(program.state()) - 1);
    program.act(OpenHead{layer, program.state().view.head});
}

void open_stack_by_name(Program& program, const RequestValue& value) {
    const auto stack = static_cast<checkpoint::Stack>(value.choice(stack_ids));
    program.act(ShowStack{stack});
}

std::string needs_stacks(const AppState& state) {
    return state.document->is_checkpoint() && state.document->part()->two_texts()
               ? ""
               : tr("view_requests.needs_stacks",
                    "Only a checkpoint with an encoder and a decoder has several stacks");
}

void step_to_row(Program& program, const RequestValue& value) {
    const AppState& state = program.state();
    const Problem& problem = state.document->problem;
    std::int64_t row = -1;
    if (value.is_text())
        row = lesson::query_row(lesson::parse_index(value.text()), problem);
    else
        row = value.whole(-1, problem.dims.Tq - 1);
    program.act(GoTo{state.view.group, row});
}

void open_screen(Program& program, const RequestValue& value) {
    std::vector<std::string_view> names;
    std::ranges::transform(named_screens(), std::back_inserter(names), &NamedScreen::name);
    const NamedScreen& wanted = named_screens()[value.choice(names)];
    const AppState& state = program.state();
    if (!has_screen(*state.document, wanted.screen))
        fail_input(
            tr("view_requests.no_screen", "this document does not have the screen \"{}\"", wanted.name));
    if (wanted.screen == Screen::effects)
        program.act(ShowEffects{wanted.effects});
    program.act(ShowScreen{wanted.screen});
}

void open_manual_at(Program& program, const RequestValue& value) {
    const std::string name = value.text();
    if (name.empty())
        return program.act(CloseManual{});
    const std::optional<manual::Place> place =
        manual::place_of(name + (name.find('#') == std::string::npos ? "#" : ""));
    const bool known = place && (place->anchor.empty() ? manual::find_page(place->page) != nullptr
                                                       : manual::find_section(*place) != nullptr);
    if (!known)
        fail_input(tr("view_requests.no_page", "the manual has no page or heading \"{}\"", name));
    program.act(OpenManual{*place});
}

/// The step of the strip that shows a tensor, if the canvas does not show it already.
std::optional<StageGroup> step_to_show(const Program& program, TensorId tensor) {
    const bool on_canvas = std::ranges::any_of(program.canvas().grids,
                                               [&](const MatrixGrid& grid) { return grid.tensor == tensor; });
    const StageGroup group = tensor_info(tensor).group;
    return on_canvas || !program.state().view.step_strip.has(group) ? std::nullopt : std::optional(group);
}

void select_cells(Program& program, const RequestValue& value) {
    if (const std::string text = value.text(); !text.empty()) {
        const lesson::CellRange cells = cells_in(program.state(), text);
        if (const auto step = step_to_show(program, cells.tensor))
            program.act(GoTo{*step});
        const auto rows = static_cast<std::size_t>(std::max(row_axis(cells.tensor), 0)),
                   cols = static_cast<std::size_t>(col_axis(cells.tensor));
        program.act(Select{CellAddress{cells.tensor, cells.first}});
        if (cells.count[rows] == 1 && cells.count[cols] == 1)
            return;
        CellAddress end{cells.tensor, cells.first};
        if (row_axis(cells.tensor) >= 0)
            end.at[rows] += cells.count[rows] - 1;
        if (cols != rows)
            end.at[cols] += cells.count[cols] - 1;
        return program.act(SelectTo{end});
    }
    program.act(Select{std::nullopt});
}

std::string needs_cells(const AppState& state) {
    return state.shown.trace != nullptr
               ? ""
               : tr("view_requests.needs_cells",
                    "No stages are on screen; on the map of a long text use \"map weight\"");
}

std::string needs_batch(const AppState& state) {
    return state.document->problem.dims.B > 1
               ? ""
               : tr("view_requests.needs_batch", "This document has one sequence");
}

std::string needs_two_heads(const AppState& state) {
    return heads_of_layer(state) > 1 ? ""
                                     : tr("view_requests.needs_two_heads", "This layer has only one head");
}

std::string needs_head_grid(const AppState& state) {
    return needs_heads_of_layers(state);
}

} // namespace

std::vector<Request> view_requests() {
    return {
        // clang-format off
        {"stage", "NAME", "opens a stage, by its name on the strip or in `headscope trace`",
         [](Program& program, const RequestValue& value) { perform_view_actions(program, go_to_stage(program.state(), value.text())); }},
        {"screen", "NAME", "opens a screen, by the names of `--screen` of `headscope render`: `stages`, `flow`, `atlas`, …",
         open_screen},
        {"row", "a number, or a token as text", "steps to this query; -1: the whole stage", step_to_row},
        {"head", "a number", "the head in focus, in the open layer", open_head_by_number},
        {"compared head", "a number", "the head that it is compared with",
         [](Program& program, const RequestValue& value) {
             program.act(CompareWith{value.whole(0, heads_of_layer(program.state()) - 1)});
         }, needs_two_heads},
        {"layer", "a number", "the open layer of the stack", open_layer_by_number, needs_head_grid},
        {"stack", "`encoder`, `decoder` or `cross`", "the stack of a checkpoint with an encoder and a decoder", open_stack_by_name, needs_stacks},
        {"batch", "a number", "the sequence on screen, of several",
         [](Program& program, const RequestValue& value) {
             program.act(ShowBatch{value.whole(0, program.state().document->problem.dims.B - 1)});
         }, needs_batch},
        {"select", "CELL, such as `weights[0][sat, cat]` or `W_Q[0:2, 3]`",
         "selects a number or a block, and opens its stage; the field `inspector` of the report explains it. Empty: none",
         select_cells, needs_cells},
        {"panel", "`start`, `course`, `guide`, `tensors`, `heads`, `edit`, `predictions` or `prompts`", "shows it on the left",
         [](Program& program, const RequestValue& value) {
             program.act(ShowTab{static_cast<LeftTab>(value.choice(panel_names))});
         }},
        {"find", "TEXT", "searches for tokens and printed numbers, like the field of *Find in the view*; empty: closes it",
         [](Program& program, const RequestValue& value) {
             const std::string text = value.text();
             program.act(OpenFind{!text.empty()});
             if (program.state().find.open && !text.empty())
                 program.state().find.typed = text;
         }, [](const AppState& state) { return action_missing(state, "find"); }},
        {"manual", "PAGE or PAGE#HEADING, such as `effects#logit-lens`", "opens the manual there; empty: closes it", open_manual_at},
        {"search manual", "TEXT", "opens the manual with this text in its search field",
         [](Program& program, const RequestValue& value) { program.act(SearchManual{value.text()}); },
         [](const AppState& state) { return action_missing(state, "search manual"); }},
        // clang-format on
    };
}

} // namespace headscope::app
