#include "app/commands/actions/rows.h"

#include <algorithm>
#include <limits>

namespace headscope::app {

namespace {

bool has_lessons(const ActionContext& now) {
    return !now.presenting && (now.lesson || (!now.checkpoint && !now.weights_alone));
}
bool has_layers(const ActionContext& now) {
    return now.checkpoint && !now.lesson && !now.presenting; // a lesson uses these keys to turn its pages
}
bool predicts(const ActionContext& now) {
    return now.checkpoint && has_stages(now);
}
std::string needs_lesson(const ActionContext& now) {
    return now.lesson ? "" : tr("stages.no_lesson_open", "No lesson is open");
}
std::function<Actions(const ActionContext&)> move_in_head_grid(int layers, int heads) {
    return always_send(MoveInHeadGrid{layers, heads});
}

ActionInfo head_row(int head) {
    return {.id = "head " + std::to_string(head),
            .title = tr("stages.head_focus", "Head {} in focus", head),
            .tip = tr("stages.puts_head_focus_last",
                      "Puts head {} in focus, or the last head if there are fewer", head),
            .keys = {{digit(head)}},
            .applies = anywhere,
            .make_actions = always_send(PickHead{head}),
            .unavailable_reason =
                [head](const ActionContext& now) {
                    return now.weights_alone && head >= now.own_heads
                               ? tr_n("stages.layer_head", "The layer has {} head", "The layer has {} heads",
                                      now.own_heads, now.own_heads)
                               : unless_number(now);
                },
            .key_list_text = head == 0 ? tr("stages.put_head_0_9", "put head 0 … 9 in focus") : ""};
}

Actions edit_word_in_focus(const ActionContext& now) {
    return {EditFlowWord{FlowWord{now.flow_word}}};
}

std::string needs_typed_word(const ActionContext& now) {
    if (now.has_tab_focus) // Enter presses the control
        return tr("flow_keys.control_focused", "A control has the focus of the keyboard");
    return now.typed_words ? unless_number(now)
                           : tr("flow_keys.words_not_typed",
                                "The words of this text are not typed: they belong to its preset or file");
}

/// Moves the focus to another word, in a checkpoint to another token.
std::function<Actions(const ActionContext&)> move_flow_word(int by) {
    return [by](const ActionContext& now) {
        return now.checkpoint ? Actions{PredictAt{std::max<std::int64_t>(now.flow_word + by, 0)}}
                              : Actions{MoveFlowWord{by}};
    };
}

} // namespace

std::vector<ActionInfo> stage_actions() {
    std::vector<ActionInfo> rows{
        // clang-format off
        {"next stage", tr("common.next_stage", "Next stage"), tr("stages.one_stop_strip_right", "One step of the strip to the right"), {{Key::right}}, has_stages_off_flow, always_send(StepStage{1}), unless_number, tr("stages.next_stage_stage_before", "next stage, previous stage"), {}, true},
        {"stage before", tr("common.stage_before", "Previous stage"), tr("stages.one_stop_strip_left", "One step of the strip to the left"), {{Key::left}}, has_stages_off_flow, always_send(StepStage{-1}), unless_number, "", {}, true},
        {"next row", tr("stages.next_row", "Next row"), tr("stages.steps_next_query_row", "Steps to the next query row of the stage; after the last row, the whole stage"), {{Key::down}}, has_stages_off_flow, always_send(StepRow{1}), unless_number, tr("stages.next_row_row_before", "next row, previous row"), {}, true},
        {"row before", tr("stages.row_before", "Previous row"), tr("stages.steps_query_row_before", "Steps to the previous query row; before the first row, the whole stage"), {{Key::up}}, has_stages_off_flow, always_send(StepRow{-1}), unless_number, "", {}, true},
        {"whole stage", tr("stages.whole_stage", "Whole stage"), tr("stages.leaves_row_stepped_shows", "Leaves the current row and shows all rows of the stage"), {{letter('R')}}, has_stages_off_flow, [](const ActionContext& now) { return Actions{GoTo{now.view.group}}; }, unless_number},
        {"first stage", tr("common.first_stage", "First stage"), tr("stages.back_first_stop_strip", "Back to the first step of the strip"), {{Key::home}}, has_stages_off_flow, [](const ActionContext& now) { return Actions{GoTo{now.view.step_strip.first()}}; }, {}, tr("stages.first_stage_last_stage", "first stage, last stage")},
        {"last stage", tr("common.last_stage", "Last stage"), tr("stages.last_stop_strip", "Forward to the last step of the strip"), {{Key::end}}, has_stages_off_flow, [](const ActionContext& now) { return Actions{GoTo{now.view.step_strip.last()}}; }, {}, ""},
        {"first token", tr("stages.predict_after_first_token", "Predict after the first token"), tr("stages.prediction_first_token_text", "The prediction at the first token of the text"), {ctrl(Key::home)}, predicts, always_send(PredictAt{0}), {}, tr("stages.predict_after_first_token_2", "predict after the first token, after the last")},
        {"last token", tr("stages.predict_after_last_token", "Predict after the last token"), tr("stages.prediction_last_token_text", "The prediction at the last token of the text"), {ctrl(Key::end)}, predicts, always_send(PredictAt{std::numeric_limits<std::int32_t>::max()}), {}, ""},
        {"play", tr("stages.play_pause", "Play and pause"), tr("stages.steps_through_rows_stages", "Steps through rows and stages automatically, or stops"), {{Key::space}}, has_stages, always_send(TogglePlay{})},
        {"next flow step", tr("flow_keys.next_step", "Next step of the story"), tr("flow_keys.next_step_tip", "Goes to the next step of the Flow's story"), {{Key::right}}, on_flow, always_send(StepFlow{1}), unless_number, tr("flow_keys.steps", "next step of the story, previous step"), {}, true},
        {"flow step before", tr("flow_keys.step_before", "Previous step of the story"), tr("flow_keys.step_before_tip", "Goes back to the start of the step"), {{Key::left}}, on_flow, always_send(StepFlow{-1}), unless_number, "", {}, true},
        {"flow later", tr("flow_keys.later", "A tenth of a second later"), tr("flow_keys.later_tip", "Shows the story a tenth of a second later"), {shift(Key::right)}, on_flow, always_send(StepFlow{1, false}), unless_number, tr("flow_keys.tenths", "a tenth of a second later, earlier"), {}, true},
        {"flow earlier", tr("flow_keys.earlier", "A tenth of a second earlier"), tr("flow_keys.earlier_tip", "Shows the story a tenth of a second earlier"), {shift(Key::left)}, on_flow, always_send(StepFlow{-1, false}), unless_number, "", {}, true},
        {"next flow word", tr("flow_keys.next_word", "Next word in focus"), tr("flow_keys.next_word_tip", "Puts the next word of the Flow in focus"), {{Key::down}}, on_flow, move_flow_word(1), unless_number, tr("flow_keys.words", "next word in focus, previous word"), {}, true},
        {"flow word before", tr("flow_keys.word_before", "Previous word in focus"), tr("flow_keys.word_before_tip", "Puts the previous word of the Flow in focus"), {{Key::up}}, on_flow, move_flow_word(-1), unless_number, "", {}, true},
        {"edit flow word", tr("flow_keys.edit_word", "Type another word"), tr("flow_keys.edit_word_tip", "Opens a field on the word in focus; Enter takes the text, Esc leaves it, Tab goes to the next word"), {{Key::enter}}, on_flow, edit_word_in_focus, needs_typed_word, tr("flow_keys.edit_word_line", "type another word in place of the one in focus")},
        {"flow start", tr("flow_keys.start", "Picture at rest"), tr("flow_keys.start_tip", "Back to the start of the story, where the picture is at rest"), {{Key::home}}, on_flow, always_send(SetFlowTime{0}), unless_number, tr("flow_keys.start_and_end", "the picture at rest, the end of the story")},
        {"flow end", tr("flow_keys.end", "End of the story"), tr("flow_keys.end_tip", "Forward to the end of the story"), {{Key::end}}, on_flow, [](const ActionContext& now) { return Actions{SetFlowTime{now.view.flow.story.duration()}}; }, unless_number, ""},
        {"wait for reading", tr("flow_keys.wait", "Wait for reading"), tr("flow_keys.wait_tip", "The story waits at the end of a step until its sentence can be read"), {{letter('W')}}, on_flow, [](const ActionContext& now) { return Actions{WaitForReading{!now.view.flow.wait_for_reading}}; }, unless_number},
        {"next page", tr("stages.next_page_lesson", "Next page of the lesson"), tr("stages.turns_next_step_question", "Turns to the next step or question"), {{Key::page_down}}, has_lessons, always_send(TurnPage{1}), needs_lesson, tr("stages.next_page_lesson_page", "next page of the lesson, previous page")},
        {"page before", tr("stages.page_before_lesson", "Previous page of the lesson"), tr("stages.turns_back_step_question", "Turns back to the previous step or question"), {{Key::page_up}}, has_lessons, always_send(TurnPage{-1}), needs_lesson, ""},
        {"next layer", tr("stages.next_layer", "Next layer"), tr("stages.same_head_one_layer", "The same head in the next layer"), {{Key::page_down}}, has_layers, move_in_head_grid(1, 0), {}, tr("stages.next_layer_checkpoint_layer", "next layer of the checkpoint, previous layer"), {}, true},
        {"layer before", tr("stages.layer_before", "Previous layer"), tr("stages.same_head_one_layer_2", "The same head in the previous layer"), {{Key::page_up}}, has_layers, move_in_head_grid(-1, 0), {}, "", {}, true},
        {"next head", tr("stages.next_head", "Next head"), tr("stages.head_beside_same_layer", "The next head in the same layer"), {{Key::period}}, has_layers, move_in_head_grid(0, 1), unless_number, tr("stages.next_head_head_before", "next head, previous head"), {}, true},
        {"head before", tr("stages.head_before", "Previous head"), tr("stages.head_before_same_layer", "The previous head in the same layer"), {{Key::comma}}, has_layers, move_in_head_grid(0, -1), {}, "", {}, true},
        {"head to the right", tr("stages.head_right", "Head to the right"), tr("stages.head_beside_board", "The head to the right in the grid"), {{Key::right}}, weights_only, move_in_head_grid(0, 1), {}, tr("stages.head_beside_layer_below", "the neighboring head, the layer below or above"), {}, true},
        {"head to the left", tr("stages.head_left", "Head to the left"), tr("stages.head_before_board", "The head to the left in the grid"), {{Key::left}}, weights_only, move_in_head_grid(0, -1), {}, "", {}, true},
        {"layer below", tr("stages.layer_below", "Layer below"), tr("stages.head_below_board", "The head below in the grid"), {{Key::down}}, weights_only, move_in_head_grid(1, 0), {}, "", {}, true},
        {"layer above", tr("stages.layer_above", "Layer above"), tr("stages.head_above_board", "The head above in the grid"), {{Key::up}}, weights_only, move_in_head_grid(-1, 0), {}, "", {}, true},
        // clang-format on
    };
    for (int head = 0; head <= 9; ++head)
        rows.push_back(head_row(head));
    return rows;
}

} // namespace headscope::app
