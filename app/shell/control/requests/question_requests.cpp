#include "app/shell/control/open_question.h"
#include "app/shell/control/requests/requests.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <limits>

namespace headscope::app {

namespace {

void press_choice(Program& program, const OpenQuestion& question, const QuestionChoice& chosen) {
    if (chosen.does.empty())
        return question.take(program, std::string(chosen.id));
    for (const Action& one : chosen.does)
        program.act(one);
}

void reply_to_question(Program& program, const RequestValue& value) {
    const std::optional<OpenQuestion> question = open_question(program.state());
    if (!question)
        fail_input(tr("question_requests.none", "no question is open"));
    value.allow({"question", "answer"});
    if (const auto number = value.find("question"))
        if (number->seed() != program.question_number())
            fail_input(tr("question_requests.other",
                          "question {} is no longer open; the open one is {}, \"{}\"", number->seed(),
                          program.question_number(), question->kind));
    const std::string answer = value.main("answer").text();
    const auto chosen = std::ranges::find(question->choices, answer, &QuestionChoice::id);
    if (chosen != question->choices.end())
        return press_choice(program, *question, *chosen);
    if (question->takes.empty())
        fail_input(tr("question_requests.no_choice", "\"{}\" is not an answer to \"{}\"; the answers are {}",
                      answer, question->kind, joined(question->choices, &QuestionChoice::id)));
    if (question->takes == "PATH") // checks that it can be one
        static_cast<void>(value.main("answer").path());
    question->take(program, answer);
}

/// Does what Esc does in a dialog, or stops the work in progress.
void cancel_in_front(Program& program, const RequestValue&) {
    if (const std::optional<OpenQuestion> question = open_question(program.state()); question) {
        const auto chosen = std::ranges::find(question->choices, "cancel", &QuestionChoice::id);
        if (chosen != question->choices.end())
            return press_choice(program, *question, *chosen);
    }
    const AppState& state = program.state();
    if (state.files.job)
        program.act(CancelJob{});
    else if (state.model.generating)
        program.act(SetGenerating{false});
    else if (state.model.measuring)
        program.act(MeasureRuns{false});
    else
        fail_input(tr("question_requests.nothing_to_cancel", "there is nothing to cancel"));
}

} // namespace

std::vector<Request> question_requests() {
    return {
        // clang-format off
        {"reply", "CHOICE, PATH or NAME, or an object with `question` (its number) and `answer`",
         "answers the open question of the report. With its number, another question that was opened meanwhile is not answered by mistake",
         reply_to_question, nullptr, RepeatedRequest::file, true},
        {"cancel", "", "closes the open question or dialog without an answer, or stops the file that is read or written, the download, the writing of text or the runs for a map",
         cancel_in_front, nullptr, RepeatedRequest::nothing, true},
        // clang-format on
    };
}

} // namespace headscope::app
