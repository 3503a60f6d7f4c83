#include "app/shell/handout/paper_question.h"

#include "app/draw/kit/rich_text.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/grade.h"

#include <variant>

namespace headscope::app {

namespace {

using Room = PaperQuestion::Room;

void add_choices(PaperQuestion& out, const std::vector<lesson::QuizChoice>& choices, const std::string& seed,
                 const lesson::LessonState& state) {
    out.room = Room::boxes;
    for (const std::size_t c : lesson::screen_order(seed, choices))
        out.items.push_back(words_of(choices[c].text, state));
}

void add_cells(PaperQuestion& out, const lesson::CellTask& task, const HandoutMap& map) {
    out.room = Room::cells;
    out.cells = cells_table(task.among, 2, map);
    // The largest or smallest of several numbers is asked for without them.
    for (HandTable::Cell& cell : out.cells->cells)
        cell.given = task.wanted == lesson::CellTask::Wanted::named;
    out.hint = tr("question_html.choose_cell", "Choose a cell of {}.", lesson::target_text(task.among));
}

} // namespace

std::string words_of(const lesson::Spans& spans, const lesson::LessonState& state) {
    std::string words;
    for (const lesson::Span& span : spans)
        words += plain_text(span, state);
    return words;
}

PaperQuestion paper_question(const lesson::StepQuestion& question, const HandoutMap& map,
                             const lesson::LessonState& state, const std::string& seed) {
    PaperQuestion out{.text = words_of(question.text, state)};
    std::visit(
        Overloaded{[](const lesson::NumberTask&) {},
                   [&](const lesson::ShapeTask&) {
                       out.hint = tr("lesson_question.shape", "Your answer, the sizes, such as 3 x 5");
                   },
                   [&](const lesson::CellTask& task) { add_cells(out, task, map); },
                   [&](const lesson::TokenTask&) {
                       out.room = Room::words;
                       for (std::int64_t at = 0; at < map.problem.dims.Tq; ++at)
                           out.items.push_back(map.problem.query_label(at));
                   },
                   [&](const lesson::OrderTask& task) {
                       out.room = Room::numbers;
                       out.hint = tr("question_html.number_items",
                                     "Number them from the largest, 1, to the smallest.");
                       for (const std::size_t item : lesson::shuffled(seed, task.items.size()))
                           out.items.push_back(words_of(task.items[item].text, state));
                   },
                   [&](const lesson::ChoiceTask& task) { add_choices(out, task.choices, seed, state); }},
        question.task);
    out.answer = lesson::printed_answer(question, lesson::right_answer(question, state), state);
    out.after = words_of(question.after, state);
    return out;
}

PaperQuestion paper_question(const lesson::Question& question, const lesson::LessonState& state,
                             const std::string& seed) {
    PaperQuestion out{.text = words_of(question.text, state)};
    add_choices(out, question.choices, seed, state);
    for (const lesson::QuizChoice& choice : question.choices)
        if (choice.correct) {
            out.answer = words_of(choice.text, state);
            out.after = words_of(choice.explanation, state);
        }
    return out;
}

} // namespace headscope::app
