#include "app/draw/kit/rich_text.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/shell/film/films.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"
#include "core/lesson/questions/grade.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace headscope::app {

namespace {

/// Collects the text of a page with its current numbers.
class PageWords {
public:
    explicit PageWords(const AppState& state)
        : PageWords(lesson_state(state.shown, state.view, state.course)) {}
    explicit PageWords(lesson::LessonState state) : state_(std::move(state)) {}

    std::vector<std::string> of(const std::vector<lesson::LessonBlock>& blocks) {
        paragraphs_.clear();
        add(blocks);
        return paragraphs_;
    }

    std::string of(const lesson::Spans& spans) const {
        std::string text;
        for (const lesson::Span& span : spans)
            text += plain_text(span, state_);
        return text;
    }

private:
    void add(const std::vector<lesson::LessonBlock>& blocks) {
        for (const lesson::LessonBlock& block : blocks)
            std::visit(Overloaded{[&](const lesson::Paragraph& b) { paragraphs_.push_back(of(b.spans)); },
                                  [&](const lesson::Heading& b) { paragraphs_.push_back(of(b.spans)); },
                                  [&](const lesson::ListBlock& b) {
                                      for (const lesson::Spans& item : b.items)
                                          paragraphs_.push_back("• " + of(item));
                                  },
                                  [&](const lesson::TableBlock& b) {
                                      add_row(b.header);
                                      for (const std::vector<lesson::Spans>& row : b.rows)
                                          add_row(row);
                                  },
                                  [&](const lesson::CodeBlock& b) { paragraphs_.push_back(b.text); },
                                  [&](const lesson::FormulaBlock& b) { paragraphs_.push_back(b.tex); },
                                  [&](const lesson::Gate& b) {
                                      paragraphs_.push_back(b.task);
                                      if (!b.after.empty() && state_.done.contains(gate_name(b)))
                                          paragraphs_.push_back(of(b.after));
                                  },
                                  [&](const lesson::FillTable& b) { paragraphs_.push_back(b.task); },
                                  [&](const lesson::StepQuestion& b) {
                                      paragraphs_.push_back(of(b.text));
                                      if (!b.after.empty() && state_.done.contains(b.id))
                                          paragraphs_.push_back(of(b.after));
                                  },
                                  [&](const lesson::Claim& b) {
                                      if (!b.source.empty())
                                          paragraphs_.push_back(
                                              tr("lesson_blocks.source", "Source: {}", b.source));
                                  },
                                  [&](const lesson::Callout& b) {
                                      if (!lesson::is_shown(b, state_))
                                          return;
                                      PageWords inside(lesson::state_inside(b, state_));
                                      std::ranges::move(inside.of(b.blocks), std::back_inserter(paragraphs_));
                                  },
                                  [](const auto&) {}}, // buttons and panels are part of the picture
                       block);
    }

    void add_row(const std::vector<lesson::Spans>& cells) {
        std::string row;
        for (const lesson::Spans& cell : cells)
            row += (row.empty() ? "" : " | ") + of(cell);
        paragraphs_.push_back(row);
    }

    lesson::LessonState state_;
    std::vector<std::string> paragraphs_;
};

/// Returns a paragraph for each reference.
std::vector<std::string> reading_of(const lesson::Lesson& lesson, const PageWords& words) {
    std::vector<std::string> paragraphs;
    for (const lesson::Reference& one : lesson.reading) {
        std::string line = one.title;
        for (const std::string& part : {source_line(one), one.url})
            if (!part.empty())
                line += ", " + part;
        paragraphs.push_back(line + ". " + words.of(one.why));
    }
    return paragraphs;
}

/// Returns the text of the open page.
FilmText text_of_page(const AppState& state) {
    const CourseState& course = state.course;
    const lesson::Lesson& lesson = *course.open;
    PageWords words(state);
    if (const lesson::Step* step = course.step())
        return {step->title, words.of(step->blocks)};
    if (const lesson::Question* question = course.question()) {
        FilmText text{tr("lesson_film.question", "Question {}", course.question_index() + 1),
                      {words.of(question->text)}};
        const std::string seed = lesson::order_seed(lesson.id, std::to_string(course.question_index()));
        for (const std::size_t c : lesson::screen_order(seed, question->choices))
            text.paragraphs.push_back("• " + words.of(question->choices[c].text));
        return text;
    }
    if (course.page > 0)
        return {tr("lesson_film.summary", "{}: summary", lesson.title), reading_of(lesson, words)};
    FilmText text{lesson.title, {lesson.summary}};
    text.paragraphs.insert(text.paragraphs.end(), lesson.objectives.begin(), lesson.objectives.end());
    return text;
}

void rest(Recorder& recorder, const FilmText& text) {
    recorder.rest(recorder.reading_time(text), text);
}

void fill_in(Recorder& recorder, const lesson::FillTable& table, const std::string& title) {
    const Shown& shown = recorder.state().shown;
    const std::vector<float> values =
        lesson::values_of(lesson::resolve(table.cells, shown.problem()), shown.problem(), *shown.trace);
    std::vector<Action> filled;
    for (const float value : values) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "%.*f", table.decimals, static_cast<double>(value));
        filled.emplace_back(FillCell{table.id, static_cast<int>(filled.size()), std::string(text.data())});
    }
    recorder.show_task();
    recorder.act(filled);
    rest(recorder, {title, {table.task}});
}

void answer(Recorder& recorder, const lesson::StepQuestion& question, const std::string& title) {
    const auto numbers = own_state(recorder.state().course);
    if (!numbers)
        return; // the page's model has no numbers that answer it
    recorder.show_task();
    recorder.act({LessonAction(AnswerStep{question.id, lesson::right_answer(question, *numbers)})});
    const PageWords words(recorder.state());
    FilmText text{title, {words.of(question.text)}};
    if (!question.after.empty())
        text.paragraphs.push_back(words.of(question.after));
    rest(recorder, text);
}

void open_gates(Recorder& recorder, const lesson::Step& step) {
    for (const lesson::LessonBlock& block : step.blocks)
        if (const auto* table = std::get_if<lesson::FillTable>(&block))
            fill_in(recorder, *table, step.title);
        else if (const auto* question = std::get_if<lesson::StepQuestion>(&block))
            answer(recorder, *question, step.title);
        else if (const auto* callout = std::get_if<lesson::Callout>(&block))
            for (const lesson::StepQuestion* const inner : lesson::questions_of(callout->blocks))
                answer(recorder, *inner, step.title);
    for (const lesson::LessonBlock& block : step.blocks)
        if (const auto* gate = std::get_if<lesson::Gate>(&block);
            gate != nullptr && !recorder.state().course.of_open().done.contains(gate_name(*gate))) {
            recorder.show_task();
            recorder.act({ShowScene{gate->solution}});
            FilmText text{step.title, {gate->task}};
            if (!gate->after.empty())
                text.paragraphs.push_back(PageWords(recorder.state()).of(gate->after));
            rest(recorder, text);
        }
}

void answer(Recorder& recorder, const lesson::Question& question) {
    const int number = recorder.state().course.question_index();
    const auto right = std::ranges::find(question.choices, true, &lesson::QuizChoice::correct);
    recorder.act({AnswerQuestion{number, static_cast<int>(std::distance(question.choices.begin(), right))}});
    const PageWords words(recorder.state());
    rest(recorder, {tr("lesson_film.question", "Question {}", number + 1),
                    {words.of(question.text), words.of(right->text), words.of(right->explanation)}});
}

} // namespace

void film_lesson(Recorder& recorder, const std::string& id) {
    recorder.act({OpenLesson{id}});
    const CourseState& course = recorder.state().course;
    for (int page = 0; page < course.pages(); ++page) {
        if (page > 0)
            recorder.act({GoToPage{page}});
        rest(recorder, text_of_page(recorder.state()));
        if (course.step() != nullptr)
            open_gates(recorder, *course.step());
        else if (course.question() != nullptr)
            answer(recorder, *course.question());
        recorder.report(page + 1, course.pages());
    }
}

} // namespace headscope::app
