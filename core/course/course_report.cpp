#include "core/course/course_report.h"

#include "core/base/message.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

namespace headscope::course {

namespace {

/// The approximate length on screen; a live value is as long as a number with two decimals.
std::size_t length_of(const lesson::QuizChoice& choice) {
    constexpr std::size_t value_length = 4;
    std::size_t length = 0;
    for (const lesson::Span& span : choice.text)
        length +=
            span.value ? value_length : static_cast<std::size_t>(std::ranges::count_if(span.text, [](char c) {
                return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
            }));
    return length;
}

using Shown = std::vector<const lesson::QuizChoice*>;
using Pick = std::function<const lesson::QuizChoice*(const Shown&)>;

Pick nth(std::size_t n) {
    return [n](const Shown& shown) { return n < shown.size() ? shown[n] : nullptr; };
}

/// All questions with choices, as they are shown.
std::vector<Shown> shown_questions(const std::vector<const lesson::Lesson*>& lessons) {
    std::vector<Shown> all;
    const auto add = [&](const lesson::Lesson& lesson, const std::string& question,
                         const std::vector<lesson::QuizChoice>& choices) {
        Shown shown;
        for (const std::size_t c : lesson::screen_order(lesson::order_seed(lesson.id, question), choices))
            shown.push_back(&choices[c]);
        all.push_back(std::move(shown));
    };
    for (const lesson::Lesson* const lesson : lessons) {
        for (const lesson::Step& step : lesson->steps)
            for (const lesson::StepQuestion* const question : lesson::questions_of(step.blocks))
                if (const auto* task = std::get_if<lesson::ChoiceTask>(&question->task))
                    add(*lesson, question->id, task->choices);
        for (std::size_t q = 0; q < lesson->quiz.size(); ++q)
            add(*lesson, std::to_string(q), lesson->quiz[q].choices);
    }
    return all;
}

std::vector<BlindStrategy> blind_strategies(const std::vector<const lesson::Lesson*>& lessons) {
    const std::vector<Shown> questions = shown_questions(lessons);
    double chance = 0;
    for (const Shown& shown : questions)
        chance += 1.0 / static_cast<double>(shown.size() * questions.size());
    const auto length = [](const lesson::QuizChoice* choice) { return length_of(*choice); };
    const std::vector<std::pair<std::string, Pick>> picks{
        {"first", nth(0)},
        {"second", nth(1)},
        {"third", nth(2)},
        {"longest", [&](const Shown& shown) { return *std::ranges::max_element(shown, {}, length); }},
        {"shortest", [&](const Shown& shown) { return *std::ranges::min_element(shown, {}, length); }}};
    std::vector<BlindStrategy> strategies;
    for (const auto& [name, pick] : picks) {
        BlindStrategy strategy{.name = name, .chance = chance};
        for (const Shown& shown : questions)
            if (const lesson::QuizChoice* const choice = pick(shown)) {
                ++strategy.of;
                strategy.right += choice->correct ? 1 : 0;
            }
        strategies.push_back(std::move(strategy));
    }
    return strategies;
}

int claims_in(const std::vector<lesson::LessonBlock>& blocks) {
    int claims = 0;
    for (const lesson::LessonBlock& block : blocks) {
        claims += std::holds_alternative<lesson::Claim>(block) ? 1 : 0;
        if (const auto* callout = std::get_if<lesson::Callout>(&block))
            claims += claims_in(callout->blocks);
    }
    return claims;
}

int percent(double fraction) {
    return static_cast<int>(std::lround(100 * fraction));
}

} // namespace

CourseReport course_report(const std::vector<const lesson::Lesson*>& lessons) {
    CourseReport report;
    for (const lesson::Lesson* const lesson : lessons) {
        ++report.lessons;
        for (const lesson::Step& step : lesson->steps) {
            ++report.steps;
            report.claims += claims_in(step.blocks);
            if (!lesson::has_task(step.blocks))
                report.without_task.push_back({{lesson->id, lesson->path, step.line}, step.title});
        }
    }
    report.blind = blind_strategies(lessons);
    report.early_terms = early_terms(lessons);
    return report;
}

std::vector<std::string> exceeded_limits(const CourseReport& report) {
    std::vector<std::string> exceeded;
    for (const BlindStrategy& blind : report.blind)
        if (blind.rate() > blind.chance + blind_margin)
            exceeded.push_back(tr("course_report.blind",
                                  "always choosing the {} answer is right in {} of {} questions ({} %), and "
                                  "guessing in {} %; change the lengths or the order of answers",
                                  blind.name, blind.right, blind.of, percent(blind.rate()),
                                  percent(blind.chance)));
    if (!report.without_task.empty())
        exceeded.push_back(tr_n("course_report.without_task",
                                "{} step has no task; add a question, a gate or a table",
                                "{} steps have no task; add a question, a gate or a table to each",
                                std::ssize(report.without_task), report.without_task.size()));
    if (!report.early_terms.empty())
        exceeded.push_back(
            tr_n("course_report.early_terms",
                 "{} term is used before a step introduces it; introduce it with [[term]] at its "
                 "first use",
                 "{} terms are used before a step introduces them; introduce them with [[term]] "
                 "at their first use",
                 std::ssize(report.early_terms), report.early_terms.size()));
    return exceeded;
}

} // namespace headscope::course
