#include "app/commands/actions/rows.h"

#include <limits>

namespace headscope::app {

namespace {

bool has_lessons(const Situation& now) {
    return !now.presenting && (now.lesson || (!now.checkpoint && !now.weights_alone));
}
bool has_layers(const Situation& now) {
    return now.checkpoint && !now.lesson && !now.presenting; // a lesson uses these keys to turn its pages
}
bool predicts(const Situation& now) {
    return now.checkpoint && has_stages(now);
}
std::string needs_lesson(const Situation& now) {
    return now.lesson ? "" : tr("No lesson is open");
}
std::function<Actions(const Situation&)> board(int layers, int heads) {
    return just(MoveOnBoard{layers, heads});
}

ActionInfo head_row(int head) {
    return {.id = "head " + std::to_string(head),
            .title = tr("Head {} in focus", head),
            .tip = tr("Puts head {} in focus; the last head where there are fewer", head),
            .keys = {{digit(head)}},
            .here = anywhere,
            .send = just(PickHead{head}),
            .missing =
                [head](const Situation& now) {
                    return now.weights_alone && head >= now.own_heads
                               ? tr_n("The layer has {} head", "The layer has {} heads", now.own_heads,
                                      now.own_heads)
                               : unless_number(now);
                },
            .line = head == 0 ? tr("put head 0 … 9 in focus") : ""};
}

} // namespace

std::vector<ActionInfo> stage_actions() {
    std::vector<ActionInfo> rows{
        // clang-format off
        {"next stage", tr("Next stage"), tr("One stop of the strip to the right"), {{Key::right}}, has_stages, just(StepStage{1}), unless_number, tr("next stage, stage before"), {}, true},
        {"stage before", tr("Stage before"), tr("One stop of the strip to the left"), {{Key::left}}, has_stages, just(StepStage{-1}), unless_number, "", {}, true},
        {"next row", tr("Next row"), tr("Steps to the next query row of the stage; after the last row, the whole stage"), {{Key::down}}, has_stages, just(StepRow{1}), unless_number, tr("next row, row before"), {}, true},
        {"row before", tr("Row before"), tr("Steps to the query row before; before the first row, the whole stage"), {{Key::up}}, has_stages, just(StepRow{-1}), unless_number, "", {}, true},
        {"whole stage", tr("Whole stage"), tr("Leaves the row that is stepped to and shows all rows of the stage"), {{letter('R')}}, has_stages, [](const Situation& now) { return Actions{GoTo{now.view.group}}; }, unless_number},
        {"first stage", tr("First stage"), tr("Back to the first stop of the strip"), {{Key::home}}, has_stages, [](const Situation& now) { return Actions{GoTo{now.view.walk.first()}}; }, {}, tr("first stage, last stage")},
        {"last stage", tr("Last stage"), tr("On to the last stop of the strip"), {{Key::end}}, has_stages, [](const Situation& now) { return Actions{GoTo{now.view.walk.last()}}; }, {}, ""},
        {"first token", tr("Predict after the first token"), tr("The prediction at the first token of the text"), {ctrl(Key::home)}, predicts, just(PredictAt{0}), {}, tr("predict after the first token, after the last")},
        {"last token", tr("Predict after the last token"), tr("The prediction at the last token of the text"), {ctrl(Key::end)}, predicts, just(PredictAt{std::numeric_limits<std::int32_t>::max()}), {}, ""},
        {"play", tr("Play and pause"), tr("Steps through rows and stages by itself, or stops"), {{Key::space}}, has_stages, just(TogglePlay{})},
        {"next page", tr("Next page of the lesson"), tr("Turns to the next step or question"), {{Key::page_down}}, has_lessons, just(TurnPage{1}), needs_lesson, tr("next page of the lesson, page before")},
        {"page before", tr("Page before in the lesson"), tr("Turns back to the step or question before"), {{Key::page_up}}, has_lessons, just(TurnPage{-1}), needs_lesson, ""},
        {"next layer", tr("Next layer"), tr("The same head one layer on"), {{Key::page_down}}, has_layers, board(1, 0), {}, tr("next layer of the checkpoint, layer before"), {}, true},
        {"layer before", tr("Layer before"), tr("The same head one layer back"), {{Key::page_up}}, has_layers, board(-1, 0), {}, "", {}, true},
        {"next head", tr("Next head"), tr("The head beside it in the same layer"), {{Key::period}}, has_layers, board(0, 1), unless_number, tr("next head, head before"), {}, true},
        {"head before", tr("Head before"), tr("The head before it in the same layer"), {{Key::comma}}, has_layers, board(0, -1), {}, "", {}, true},
        {"head to the right", tr("Head to the right"), tr("The head beside it on the board"), {{Key::right}}, weights_only, board(0, 1), {}, tr("the head beside, the layer below or above"), {}, true},
        {"head to the left", tr("Head to the left"), tr("The head before it on the board"), {{Key::left}}, weights_only, board(0, -1), {}, "", {}, true},
        {"layer below", tr("Layer below"), tr("The head below it on the board"), {{Key::down}}, weights_only, board(1, 0), {}, "", {}, true},
        {"layer above", tr("Layer above"), tr("The head above it on the board"), {{Key::up}}, weights_only, board(-1, 0), {}, "", {}, true},
        // clang-format on
    };
    for (int head = 0; head <= 9; ++head)
        rows.push_back(head_row(head));
    return rows;
}

} // namespace headscope::app
