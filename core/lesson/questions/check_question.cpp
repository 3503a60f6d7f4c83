#include "core/lesson/questions/check_question.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/lesson/check.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/grade.h"
#include "core/lesson/questions/step_tasks.h"

#include <cmath>
#include <set>

namespace headscope::lesson {

namespace {

using Verdict = Grade::Verdict;

void check_mistakes(const StepQuestion& question, const LessonState& state,
                    std::vector<LessonError>& faults) {
    for (const Mistake& mistake : question.mistakes)
        try {
            const std::string answer = answer_of(mistake, question, state);
            const Grade found = grade(question, answer, state);
            if (found.verdict == Verdict::right)
                faults.push_back({mistake.line, tr("check_question.mistake_is_right",
                                                   "the mistake {} of \"{}\" is accepted as right; give an "
                                                   "answer that differs from {}",
                                                   answer, question.id, right_answer(question, state))});
            else if (found.verdict == Verdict::unreadable)
                faults.push_back({mistake.line, tr("check_question.mistake_no_answer",
                                                   "the mistake {} of \"{}\" is not an answer that a learner "
                                                   "can give: {}",
                                                   answer, question.id, found.hint)});
            else if (found.why != &mistake.why)
                faults.push_back({mistake.line, tr("check_question.mistake_twice",
                                                   "the mistake {} of \"{}\" is listed twice; remove one",
                                                   answer, question.id)});
        } catch (const Error& error) {
            faults.push_back({mistake.line, error.what()});
        }
}

std::string value_text(const LessonValue& value) {
    constexpr int decimals = 4;
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr)
        return std::get<std::string>(value);
    return with_decimals(*number, *number == std::floor(*number) ? 0 : decimals);
}

} // namespace

std::vector<LessonError> check_question(const StepQuestion& question, const LessonState& state) {
    std::vector<LessonError> faults;
    const auto fault = [&](const std::string& sentence) { faults.push_back({question.line, sentence}); };
    const std::string right = right_answer(question, state), wrong = wrong_answer(question, state);
    if (grade(question, right, state).verdict != Verdict::right)
        fault(tr("check_question.answer_refused",
                 "the question \"{}\" refuses its own answer \"{}\"; give an answer that a learner can enter",
                 question.id, right));
    else if (wrong.empty() || grade(question, wrong, state).verdict != Verdict::wrong)
        fault(tr("check_question.all_right",
                 "the question \"{}\" accepts every answer, for example \"{}\"; ask for something that can "
                 "be wrong",
                 question.id, wrong.empty() ? right : wrong));
    if (std::holds_alternative<CellTask>(question.task) && state.selected &&
        grade(question, cell_answer(state.selected->tensor, state.selected->first), state).verdict ==
            Verdict::right)
        fault(tr("check_question.answer_selected",
                 "the step selects the answer of the question \"{}\"; remove select: from the step",
                 question.id));
    check_mistakes(question, state, faults);
    return faults;
}

void check_later_gates(const StepQuestion& question, const std::vector<LessonBlock>& blocks,
                       const LessonState& answered) {
    if (question.show.line == 0)
        return; // the answer shows no scene
    for (const LessonBlock& block : blocks)
        if (const auto* gate = std::get_if<Gate>(&block);
            gate != nullptr && gate->line > question.line && gate->condition.truth(answered))
            fail_input(tr("check_question.answer_opens_gate",
                          "the answer to \"{}\" opens the gate \"{}\" after it; ask for something that its "
                          "scene does not show",
                          question.id, gate->condition.text()));
}

std::vector<LessonError> repeated_ids(const Lesson& lesson) {
    std::vector<LessonError> faults;
    std::set<std::string> met;
    for (const Step& step : lesson.steps)
        for (const auto& [id, line] : tasks_with_ids(step.blocks))
            if (!met.insert(id).second)
                faults.push_back(
                    {line, tr("check_question.id_twice",
                              "the id \"{}\" is used twice in this lesson; choose another one", id)});
    return faults;
}

void check_claim(const Claim& claim, const LessonState& state) {
    if (!claim.holds || claim.holds->truth(state))
        return;
    std::string sides;
    for (const Expression::Comparison& one : claim.holds->false_comparisons(state))
        sides +=
            (sides.empty() ? "" : ", ") + value_text(one.left) + " " + one.sign + " " + value_text(one.right);
    fail_input(tr("check_question.claim_false",
                  "the lesson says \"{}\", and {} does not hold: {}; correct the sentence or the claim",
                  claim.says, claim.holds->text(), sides));
}

} // namespace headscope::lesson
