#include "app/lesson/answering.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/grade.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>

namespace headscope::app {

namespace {

using Verdict = lesson::Grade::Verdict;

const lesson::StepQuestion& asked(const CourseState& course, const std::string& id) {
    if (course.open == nullptr)
        fail_input(
            tr("answering.no_lesson", "no lesson is open; open one, then go to a step with a question"));
    if (const lesson::StepQuestion* const question = question_of_step(course, id))
        return *question;
    std::string ids;
    if (course.step() != nullptr)
        for (const lesson::StepQuestion* const one : lesson::questions_of(course.step()->blocks))
            ids += (ids.empty() ? "" : ", ") + one->id;
    fail_input(ids.empty()
                   ? tr("answering.page_no_question", "this page has no question \"{}\", and no other", id)
                   : tr("answering.page_other_questions",
                        "this page has no question \"{}\"; its questions are {}", id, ids));
}

lesson::LessonState numbers_of(const CourseState& course) {
    std::optional<lesson::LessonState> state = own_state(course);
    if (!state)
        fail_input(
            tr("answering.not_computed", "the numbers of this page are not computed yet; answer again"));
    return *std::move(state);
}

void accept(CourseState& course, const std::string& id, GivenAnswer answer) {
    LessonProgress& progress = course.progress[course.open->id];
    progress.done.insert(id);
    progress.given.insert_or_assign(id, std::move(answer));
    course.drafts.erase(id);
    course.hints.erase(id);
}

} // namespace

bool give_answer(CourseState& course, const AnswerStep& answer) {
    const lesson::StepQuestion& question = asked(course, answer.question);
    if (course.of_open().done.contains(question.id))
        return false;
    const lesson::Grade grade = lesson::grade(question, answer.answer, numbers_of(course));
    if (grade.verdict == Verdict::unreadable)
        fail_input(grade.hint);
    course.drafts[question.id] = answer.answer;
    course.hints.erase(question.id);
    if (grade.verdict == Verdict::right) {
        accept(course, question.id, {answer.answer, false});
        return true;
    }
    std::vector<std::string>& tries = course.tries[question.id];
    std::erase(tries, answer.answer);
    tries.push_back(answer.answer);
    return false;
}

void show_answer(CourseState& course, const std::string& question) {
    const lesson::StepQuestion& shown = asked(course, question);
    if (!course.of_open().done.contains(question))
        accept(course, question, {lesson::right_answer(shown, numbers_of(course)), true});
}

std::optional<AnswerStep> clicked_answer(const CourseState& course, const ViewState& view) {
    const lesson::Step* const step = course.step();
    const auto numbers = own_state(course);
    if (step == nullptr || !view.selected || !numbers)
        return {};
    const std::string answer = lesson::cell_answer(view.selected->tensor, view.selected->at);
    if (const auto given = course.scene().select) { // selected by the page, not by a click
        const lesson::CellRange cell = lesson::resolve(*given, numbers->problem);
        if (cell.tensor == view.selected->tensor && cell.first == view.selected->at)
            return {};
    }
    for (const lesson::StepQuestion* const question : lesson::questions_of(step->blocks)) {
        const bool open = std::holds_alternative<lesson::CellTask>(question->task) &&
                          !course.of_open().done.contains(question->id);
        const auto tried = course.tries.find(question->id);
        const bool again =
            tried != course.tries.end() && !tried->second.empty() && tried->second.back() == answer;
        if (!open || again)
            continue;
        try {
            if (lesson::grade(*question, answer, *numbers).verdict != Verdict::unreadable)
                return AnswerStep{question->id, answer};
        } catch (const Error&) {
            // The check of the lesson reports a question whose cells cannot be found.
        }
    }
    return {};
}

} // namespace headscope::app
