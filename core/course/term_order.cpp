#include "core/course/term_order.h"

#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/manual/glossary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace headscope::course {

namespace {

using lesson::Spans;

/// Receives the texts of a step in their order, each with the line of its block.
using TakeText = std::function<void(const Spans& text, int line)>;

void each_text(const std::vector<lesson::QuizChoice>& choices, int line, const TakeText& take) {
    for (const lesson::QuizChoice& choice : choices) {
        take(choice.text, line);
        take(choice.explanation, line);
    }
}

Spans plain(const std::string& text, int line) {
    return {{.style = lesson::SpanStyle::plain, .text = text, .line = line}};
}

void each_text(const lesson::StepQuestion& question, const TakeText& take) {
    take(question.text, question.line);
    if (const auto* choice = std::get_if<lesson::ChoiceTask>(&question.task))
        each_text(choice->choices, question.line, take);
    if (const auto* order = std::get_if<lesson::OrderTask>(&question.task))
        for (const lesson::OrderTask::Item& item : order->items)
            take(item.text, question.line);
    for (const lesson::Mistake& mistake : question.mistakes)
        take(mistake.why, mistake.line);
    take(question.after, question.line);
}

void each_text(const std::vector<lesson::LessonBlock>& blocks, const TakeText& take) {
    const auto all = [&](const std::vector<Spans>& texts) {
        for (const Spans& text : texts)
            take(text, 0);
    };
    for (const lesson::LessonBlock& block : blocks)
        std::visit(Overloaded{[&](const lesson::Paragraph& b) { take(b.spans, 0); },
                              [&](const lesson::Heading& b) { take(b.spans, 0); },
                              [&](const lesson::ListBlock& b) { all(b.items); },
                              [&](const lesson::TableBlock& b) {
                                  all(b.header);
                                  std::ranges::for_each(b.rows, all);
                              },
                              [&](const lesson::Gate& b) {
                                  take(plain(b.task, b.line), b.line);
                                  take(b.after, b.line);
                              },
                              [&](const lesson::FillTable& b) { take(plain(b.task, b.line), b.line); },
                              [&](const lesson::ShowMe& b) { take(plain(b.label, b.line), b.line); },
                              [&](const lesson::StepQuestion& b) { each_text(b, take); },
                              [&](const lesson::Callout& b) { each_text(b.blocks, take); },
                              [](const auto&) {}},
                   block);
}

void each_text(const lesson::Step& step, const TakeText& take) {
    take(plain(step.title, step.line), step.line);
    each_text(step.blocks, take);
}

/// The first use and the introduction of a term, each with the number of its step in the course.
struct Course {
    struct Met {
        int step = 0;
        LessonPlace place;
    };
    std::vector<const manual::Term*> order; ///< by first use
    std::map<const manual::Term*, Met> used, introduced;
};

/// Returns true inside quotation marks: a title or an example may have words that the course has not
/// introduced.
bool is_quoted(std::string_view text, std::size_t at) {
    for (const auto& [open, close] : {std::pair("\"", "\""), std::pair("“", "”")})
        for (auto begin = text.find(open); begin < at; begin = text.find(open, begin)) {
            const auto end = text.find(close, begin + 1);
            if (end == std::string_view::npos)
                break;
            if (at < end)
                return true;
            begin = end + 1;
        }
    return false;
}

void read_text(const Spans& text, const Course::Met& at, Course& course) {
    const auto meet = [&](std::map<const manual::Term*, Course::Met>& places, const manual::Term* term,
                          const lesson::Span& span, std::size_t offset) {
        Course::Met met = at;
        if (const int line = lesson::line_at(span, offset); line > 0)
            met.place.line = line;
        return places.emplace(term, std::move(met)).second;
    };
    for (const lesson::Span& span : text) {
        if (span.value || span.style == lesson::SpanStyle::code)
            continue;
        if (!span.term.empty()) {
            if (const manual::Term* const term = manual::term_named(span.term))
                meet(course.introduced, term, span, 0);
            continue;
        }
        for (const manual::TermUse& use : manual::term_uses(span.text))
            if (!is_quoted(span.text, use.at) && meet(course.used, use.term, span, use.at))
                course.order.push_back(use.term);
    }
}

} // namespace

std::vector<EarlyTerm> early_terms(const std::vector<const lesson::Lesson*>& lessons) {
    Course course;
    int number = 0;
    for (const lesson::Lesson* const lesson : lessons)
        for (const lesson::Step& step : lesson->steps) {
            ++number;
            each_text(step, [&](const Spans& text, int line) {
                read_text(text, {number, {lesson->id, lesson->path, line > 0 ? line : step.line}}, course);
            });
        }
    std::vector<EarlyTerm> early;
    for (const manual::Term* const term : course.order) {
        const Course::Met& used = course.used.at(term);
        const auto introduced = course.introduced.find(term);
        if (introduced == course.introduced.end())
            early.push_back({term->name, used.place, {}});
        else if (used.step < introduced->second.step)
            early.push_back({term->name, used.place, introduced->second.place});
    }
    return early;
}

std::vector<lesson::LessonError> unknown_terms(const lesson::Lesson& lesson) {
    std::vector<lesson::LessonError> faults;
    for (const lesson::Step& step : lesson.steps)
        each_text(step, [&](const Spans& text, int line) {
            for (const lesson::Span& span : text)
                if (!span.term.empty() && manual::term_named(span.term) == nullptr)
                    faults.push_back(
                        {span.line > 0 ? span.line : std::max(line, step.line),
                         tr("term_order.unknown_term",
                            "the glossary has no entry \"{}\"; add it to glossary.md, or correct the word",
                            span.term)});
        });
    return faults;
}

} // namespace headscope::course
