#include "app/shell/control/named_actions.h"
#include "app/shell/control/requests/requests.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/panel.h"

#include <variant>

namespace headscope::app {

namespace {

std::string needs_quiz_question(const AppState& state) {
    if (const std::string missing = needs_lesson(state); !missing.empty())
        return missing;
    return state.course.question() != nullptr
               ? ""
               : tr("course_requests.needs_quiz",
                    "The open page of the lesson has no multiple-choice question");
}

template<class Kind>
void collect_blocks(const std::vector<lesson::LessonBlock>& blocks, std::vector<const Kind*>& found) {
    for (const lesson::LessonBlock& block : blocks)
        if (const auto* one = std::get_if<Kind>(&block); one != nullptr)
            found.push_back(one);
        else if (const auto* callout = std::get_if<lesson::Callout>(&block); callout != nullptr)
            collect_blocks(callout->blocks, found);
}

/// The blocks of one kind in the open step, those in its callouts included.
template<class Kind>
std::vector<const Kind*> open_blocks(const CourseState& course) {
    std::vector<const Kind*> found;
    if (course.step() != nullptr)
        collect_blocks(course.step()->blocks, found);
    return found;
}

void answer_quiz_question(Program& program, const RequestValue& value) {
    const CourseState& course = program.state().course;
    const auto choices = static_cast<std::int64_t>(course.question()->choices.size());
    program.act(AnswerQuestion{course.question_index(), static_cast<int>(value.whole(1, choices) - 1)});
}

void answer_step_question(Program& program, const RequestValue& value) {
    for (const Action& one : answer_question(value.text()))
        program.act(one);
}

void turn_to_page(Program& program, const RequestValue& value) {
    program.act(GoToPage{static_cast<int>(value.whole(0, program.state().course.pages() - 1))});
}

void fill_table_cell(Program& program, const RequestValue& value) {
    value.allow({"table", "cell", "text"});
    const std::string table = value.at("table").text();
    constexpr std::int64_t most_cells = 10'000;
    const lesson::FillTable* found = nullptr;
    for (const lesson::FillTable* one : open_blocks<lesson::FillTable>(program.state().course))
        found = one->id == table ? one : found;
    if (found == nullptr)
        fail_input(tr("course_requests.no_table", "the open page of the lesson has no table \"{}\"", table));
    program.act(FillCell{table, static_cast<int>(value.at("cell").whole(0, most_cells - 1)),
                         value.at("text").text()});
}

void show_scene_of_button(Program& program, const RequestValue& value) {
    const auto buttons = open_blocks<lesson::ShowMe>(program.state().course);
    if (buttons.empty())
        fail_input(tr("course_requests.no_button", "the open page of the lesson shows nothing on request"));
    const auto wanted = static_cast<std::size_t>(value.whole(1, std::ssize(buttons)) - 1);
    program.act(ShowScene{buttons[wanted]->scene});
}

/// The panel of the open step with that knob; null if there is none.
const lesson::LessonPanel* panel_with(const CourseState& course, const std::string& knob) {
    for (const lesson::LessonPanel* panel : open_blocks<lesson::LessonPanel>(course))
        for (const lesson::Knob& one : lesson::knobs_of(*panel, {}))
            if (one.name == knob)
                return panel;
    return nullptr;
}

void turn_knob(Program& program, const RequestValue& value) {
    const Assignment turned = assignment_in(value);
    const CourseState& course = program.state().course;
    const lesson::LessonPanel* const panel = panel_with(course, turned.left);
    if (panel == nullptr)
        fail_input(
            tr("course_requests.no_knob", "the open page of the lesson has no knob \"{}\"", turned.left));
    const auto state = course.panels.find(panel->line);
    const lesson::Knobs set = state == course.panels.end() ? lesson::Knobs() : state->second.set;
    const double wanted = parse_number(turned.right);
    lesson::check_knob(*panel, set, turned.left, wanted);
    program.act(TurnKnobs{panel->line, {{turned.left, wanted}}});
}

} // namespace

std::vector<Request> course_requests() {
    return {
        // clang-format off
        {"lesson", "ID", "opens a lesson, by the names of `headscope lesson list`", [](Program& program, const RequestValue& value) { program.act(OpenLesson{value.text()}); }},
        {"close lesson", "", "returns to the list of lessons and to the user’s own document", [](Program& program, const RequestValue&) { program.act(CloseLesson{}); }, needs_lesson},
        {"page", "a number", "opens a page of the lesson; 0: its opening", turn_to_page, needs_lesson},
        {"answer", "`ID = ANSWER`",
         "answers a [question](lessons.md#ask-a-question-in-a-step) of the open step of a lesson: a number, a shape, words, a cell such as `weights[0][sat, cat]`, or the numbers of items or of a choice in the lesson’s file, from 1. `ok` is false only if the text is not an answer; the report says whether it was accepted",
         answer_step_question},
        {"choose answer", "a number", "answers the multiple-choice question of the open page by the number of a choice, from 1; only the first answer counts", answer_quiz_question, needs_quiz_question},
        {"show answer", "ID", "shows the answer to a question of the open step", [](Program& program, const RequestValue& value) { program.act(ShowAnswer{value.text()}); }, needs_lesson},
        {"fill", "an object with `table`, `cell` and `text`", "types into a cell of a table of the open step; cells are counted row by row, from 0", fill_table_cell, needs_lesson},
        {"knob", "`NAME = NUMBER`", "sets a knob of a panel of the open step", turn_knob, needs_lesson},
        {"show me", "a number", "presses a button of the open step that shows something, from 1", show_scene_of_button, needs_lesson},
        {"return to lesson", "", "restores the input and the view of the open page", [](Program& program, const RequestValue&) { program.act(ReturnToLesson{}); }, needs_lesson},
        {"restart lesson", "", "resets the answers and the progress of the open lesson", [](Program& program, const RequestValue&) { program.act(StartLessonAgain{}); }, needs_lesson},
        // clang-format on
    };
}

} // namespace headscope::app
