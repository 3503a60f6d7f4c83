#include "app/lesson/results.h"

#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/step_tasks.h"

#include <array>
#include <string_view>

namespace headscope::app {

namespace {

/// The text without live values, which need the numbers of the step.
std::string plain(const lesson::Spans& spans) {
    std::string text;
    for (const lesson::Span& span : spans)
        text += span.value ? "…" : span.text;
    return text;
}

/// A field of a CSV table.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    return '"' + lesson::replace_all(text, "\"", "\"\"") + '"';
}

/// Choices and items in words; other answers as they were given.
std::string answer_in_words(const lesson::StepQuestion& question, const std::string& given) {
    const auto* const choice = std::get_if<lesson::ChoiceTask>(&question.task);
    const auto* const order = std::get_if<lesson::OrderTask>(&question.task);
    if (choice == nullptr && order == nullptr)
        return given;
    std::string words;
    for (const std::size_t at : lesson::numbers_in(given)) {
        if (at >= (choice != nullptr ? choice->choices.size() : order->items.size()))
            return given;
        words += (words.empty() ? "" : " > ") +
                 plain(choice != nullptr ? choice->choices[at].text : order->items[at].text);
    }
    return words;
}

class Table {
public:
    void add(const std::array<std::string, 8>& row) {
        for (std::size_t column = 0; column < row.size(); ++column)
            text_ += (column == 0 ? "" : ",") + quoted(row[column]);
        text_ += "\r\n";
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// The ids of the tables among the blocks of a step, and what each asks for.
void visit_tables(const std::vector<lesson::LessonBlock>& blocks, const auto& visit) {
    for (const lesson::LessonBlock& block : blocks) {
        if (const auto* table = std::get_if<lesson::FillTable>(&block))
            visit(*table);
        if (const auto* callout = std::get_if<lesson::Callout>(&block))
            visit_tables(callout->blocks, visit);
    }
}

void add_lesson(Table& rows, const std::string& learner, const lesson::Lesson& lesson,
                const LessonProgress& progress) {
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
        const std::string part = "step " + std::to_string(step + 1);
        for (const lesson::StepQuestion* const question : lesson::questions_of(lesson.steps[step].blocks)) {
            const auto given = progress.given.find(question->id);
            const bool is_given = given != progress.given.end();
            rows.add({learner, lesson.id, part, "question", question->id, plain(question->text),
                      is_given ? answer_in_words(*question, given->second.text) : "",
                      !is_given             ? "open"
                      : given->second.shown ? "shown"
                                            : "right"});
        }
        visit_tables(lesson.steps[step].blocks, [&](const lesson::FillTable& table) {
            rows.add({learner, lesson.id, part, "table", table.id, table.task, "",
                      progress.done.contains(table.id) ? "right" : "open"});
        });
    }
    for (std::size_t n = 0; n < lesson.quiz.size(); ++n) {
        const std::vector<lesson::QuizChoice>& choices = lesson.quiz[n].choices;
        const auto chosen = progress.answers.find(static_cast<int>(n));
        const bool is_chosen =
            chosen != progress.answers.end() && chosen->second >= 0 && chosen->second < std::ssize(choices);
        const lesson::QuizChoice* const choice =
            is_chosen ? &choices[static_cast<std::size_t>(chosen->second)] : nullptr;
        rows.add({learner, lesson.id, "quiz " + std::to_string(n + 1), "quiz", "", plain(lesson.quiz[n].text),
                  is_chosen ? plain(choice->text) : "",
                  !is_chosen        ? "open"
                  : choice->correct ? "right"
                                    : "wrong"});
    }
}

} // namespace

std::string results_csv(std::span<const std::shared_ptr<const lesson::Lesson>> lessons,
                        std::span<const LearnerResults> learners) {
    Table rows;
    rows.add({"learner", "lesson", "part", "kind", "id", "text", "answer", "result"});
    for (const LearnerResults& one : learners)
        for (const std::shared_ptr<const lesson::Lesson>& lesson : lessons)
            if (const auto found = one.lessons.find(lesson->id); found != one.lessons.end())
                add_lesson(rows, one.learner, *lesson, found->second);
    return rows.text();
}

} // namespace headscope::app
