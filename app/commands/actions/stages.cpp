#include "app/commands/actions/rows.h"

#include <limits>

namespace headscope::app {

namespace {

bool has_lessons(const Situation& now) {
    return !now.presenting && (now.lesson || (!now.checkpoint && !now.weights_alone));
}
bool has_layers(const Situation& now) {
    return now.checkpoint && !now.lesson && !now.presenting; // whose pages these keys turn
}
bool predicts(const Situation& now) {
    return now.checkpoint && has_stages(now);
}
std::string needs_lesson(const Situation& now) {
    return now.lesson ? "" : "No lesson is open";
}
std::function<Actions(const Situation&)> board(int layers, int heads) {
    return look(AttentionChange(MoveOnBoard{layers, heads}));
}

/// Heads by their number, counted from 1 as the keys are.
ActionInfo head_row(int number) {
    const std::string head = std::to_string(number - 1);
    return {.id = "head " + head,
            .title = "Head " + head + " in focus",
            .tip = "Puts head " + head + " in focus; the last head where there are fewer",
            .keys = {{digit(number)}},
            .here = anywhere,
            .send = look(PickHead{number - 1}),
            .missing =
                [number](const Situation& now) {
                    return now.weights_alone && number > now.own_heads
                               ? "The layer has " + std::to_string(now.own_heads) + " heads"
                               : unless_number(now);
                },
            .line = number == 1 ? "put head 0 … 8 in focus" : ""};
}

} // namespace

std::vector<ActionInfo> stage_actions() {
    std::vector<ActionInfo> rows{
        // clang-format off
        {"next stage", "Next stage", "One stop of the strip to the right", {{Key::right}}, has_stages, look(StepStage{1}), unless_number, "next stage, stage before", {}, true},
        {"stage before", "Stage before", "One stop of the strip to the left", {{Key::left}}, has_stages, look(StepStage{-1}), unless_number, "", {}, true},
        {"next row", "Next row", "Steps to the next query row of the stage; after the last row, the whole stage", {{Key::down}}, has_stages, look(StepRow{1}), unless_number, "next row, row before", {}, true},
        {"row before", "Row before", "Steps to the query row before; before the first row, the whole stage", {{Key::up}}, has_stages, look(StepRow{-1}), unless_number, "", {}, true},
        {"whole stage", "Whole stage", "Leaves the row that is stepped to and shows all rows of the stage", {{letter('R')}}, has_stages, [](const Situation& now) { return Actions{ViewChange(GoTo{now.view.group})}; }, unless_number},
        {"first stage", "First stage", "Back to the first stop of the strip", {{Key::home}}, has_stages, [](const Situation& now) { return Actions{ViewChange(GoTo{now.view.walk.first()})}; }, {}, "first stage, last stage"},
        {"last stage", "Last stage", "On to the last stop of the strip", {{Key::end}}, has_stages, [](const Situation& now) { return Actions{ViewChange(GoTo{now.view.walk.last()})}; }, {}, ""},
        {"first token", "Predict after the first token", "The prediction at the first token of the text", {ctrl(Key::home)}, predicts, just(Action(ModelAction(PredictAt{0}))), {}, "predict after the first token, after the last"},
        {"last token", "Predict after the last token", "The prediction at the last token of the text", {ctrl(Key::end)}, predicts, just(Action(ModelAction(PredictAt{std::numeric_limits<std::int32_t>::max()}))), {}, ""},
        {"play", "Play and pause", "Steps through rows and stages by itself, or stops", {{Key::space}}, has_stages, look(TogglePlay{})},
        {"next page", "Next page of the lesson", "Turns to the next step or question", {{Key::page_down}}, has_lessons, just(LessonAction(TurnPage{1})), needs_lesson, "next page of the lesson, page before"},
        {"page before", "Page before in the lesson", "Turns back to the step or question before", {{Key::page_up}}, has_lessons, just(LessonAction(TurnPage{-1})), needs_lesson, ""},
        {"next layer", "Next layer", "The same head one layer on", {{Key::page_down}}, has_layers, board(1, 0), {}, "next layer of the checkpoint, layer before", {}, true},
        {"layer before", "Layer before", "The same head one layer back", {{Key::page_up}}, has_layers, board(-1, 0), {}, "", {}, true},
        {"next head", "Next head", "The head beside it in the same layer", {{Key::period}}, has_layers, board(0, 1), unless_number, "next head, head before", {}, true},
        {"head before", "Head before", "The head before it in the same layer", {{Key::comma}}, has_layers, board(0, -1), {}, "", {}, true},
        {"head to the right", "Head to the right", "The head beside it on the board", {{Key::right}}, weights_only, board(0, 1), {}, "the head beside, the layer below or above", {}, true},
        {"head to the left", "Head to the left", "The head before it on the board", {{Key::left}}, weights_only, board(0, -1), {}, "", {}, true},
        {"layer below", "Layer below", "The head below it on the board", {{Key::down}}, weights_only, board(1, 0), {}, "", {}, true},
        {"layer above", "Layer above", "The head above it on the board", {{Key::up}}, weights_only, board(-1, 0), {}, "", {}, true},
        // clang-format on
    };
    for (int number = 1; number <= 9; ++number)
        rows.push_back(head_row(number));
    return rows;
}

} // namespace headscope::app
