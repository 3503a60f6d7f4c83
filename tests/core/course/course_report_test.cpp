#include "core/course/course_report.h"
#include "core/lesson/library.h"
#include "core/lesson/parse.h"
#include "tests/catch.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace headscope;
using namespace headscope::course;
using Catch::Contains;

namespace {

/// A lesson with these steps and a quiz whose longest choice is right.
lesson::Lesson lesson_of(const std::string& id, const std::string& steps) {
    const std::string text = "---\nid: " + id + "\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n" +
                             steps +
                             "\n```quiz\nquestion: Q\nchoices:\n- {text: right answer, why: b, right: true}\n"
                             "- {text: no, why: d}\n- {text: nope, why: f}\n```\n";
    lesson::ParsedLesson parsed = lesson::parse_lesson(text, id + ".md");
    for (const lesson::LessonError& fault : parsed.faults)
        FAIL_CHECK(fault.line << ": " << fault.sentence);
    return std::move(parsed.lesson);
}

std::vector<lesson::Lesson> english_lessons() {
    std::vector<lesson::Lesson> lessons;
    for (const lesson::FoundLesson& found : lesson::find_lessons({}, "en"))
        lessons.push_back(found.parsed.lesson);
    return lessons;
}

CourseReport report_of(const std::vector<lesson::Lesson>& lessons) {
    std::vector<const lesson::Lesson*> pointers;
    for (const lesson::Lesson& lesson : lessons)
        pointers.push_back(&lesson);
    return course_report(pointers);
}

} // namespace

TEST_CASE("a term used before its step is named with its line and its introduction", "[lesson]") {
    // The front matter has 6 lines.
    const std::vector<lesson::Lesson> lessons{
        lesson_of("a", "## One\nPlain \"Logit\" words, “Rollout”,\nthen two softmaxes and\nan entropy.\n\n## "
                       "Two\nA [[softmax]] here.\n"),
        lesson_of("b", "## Three\n> [!note] The\n> residual stream.\n\nThe `logit` {{T}} as code.\n\n"
                       "Now the [[residual stream|sum]], and [[Entropy]].\n")};
    const std::vector<EarlyTerm> early = report_of(lessons).early_terms;
    REQUIRE(early.size() == 2); // the residual stream: in the step that introduces it
    CHECK(early[0].term == "Softmax");
    CHECK(early[0].used.lesson == "a");
    CHECK(early[0].used.path == "a.md");
    CHECK(early[0].used.line == 9);
    CHECK(early[0].introduced.lesson == "a");
    CHECK(early[0].introduced.line == 13);
    CHECK(early[1].term == "Entropy");
    CHECK(early[1].used.line == 10);
    CHECK(early[1].introduced.lesson == "b");
    CHECK(early[1].introduced.line == 13);
}

TEST_CASE("a term that no lesson introduces is early, in tasks and questions as well", "[lesson]") {
    const std::vector<lesson::Lesson> lessons{
        lesson_of("a", "## One\nWords.\n```gate\ntask: Look at a logit.\nwhen: T = 9\n```\n"
                       "```question\nid: q\nkind: number\nquestion: Which perplexity?\nanswer: 1\n```\n")};
    const std::vector<EarlyTerm> early = report_of(lessons).early_terms;
    REQUIRE(early.size() == 2);
    CHECK(early[0].term == "Logit");
    CHECK(early[0].introduced.lesson.empty());
    CHECK(early[1].term == "Perplexity");
}

TEST_CASE("a marked term is in the glossary, under its name, a plural or another spelling", "[lesson]") {
    const auto faults = [](const std::string& term) {
        return unknown_terms(lesson_of("a", "## One\nText with\nthe [[" + term + "]] in it.\n"));
    };
    CHECK(faults("Residual Streams").empty());
    CHECK(faults("GQA").empty());
    CHECK(faults("grouped-query attention").empty());
    CHECK(faults("feed-forward block").empty());
    CHECK(faults("head gain").empty());
    REQUIRE(faults("flux|of words").size() == 1);
    CHECK(faults("flux|of words").front().line == 9);
    CHECK_THAT(faults("flux").front().sentence, Contains("no entry \"flux\""));
}

TEST_CASE("a step without a task and a strategy that needs no reading pass a limit", "[lesson]") {
    std::vector<lesson::Lesson> lessons;
    for (int n = 0; n < 30; ++n)
        lessons.push_back(
            lesson_of("l" + std::to_string(n), "## One\nWords.\n```gate\ntask: Do.\nwhen: T = 9\n```\n"));
    CourseReport report = report_of(lessons);
    CHECK(report.lessons == 30);
    CHECK(report.steps == 30);
    CHECK(report.without_task.empty());
    for (const BlindStrategy& blind : report.blind) {
        CAPTURE(blind.name);
        CHECK(blind.of == 30);
        CHECK(blind.chance == Approx(1.0 / 3));
        if (blind.name == "longest")
            CHECK(blind.right == 30);
        else if (blind.name == "shortest")
            CHECK(blind.right == 0);
        else // although the right answer is the first in every file
            CHECK(blind.right < 16);
    }
    const std::vector<std::string> exceeded = exceeded_limits(report);
    REQUIRE(exceeded.size() == 1);
    CHECK_THAT(exceeded.front(), Contains("longest") && Contains("30 of 30"));

    lessons.push_back(lesson_of("idle", "## Idle\nWords.\n"));
    report = report_of(lessons);
    REQUIRE(report.without_task.size() == 1);
    CHECK(report.without_task.front().title == "Idle");
    CHECK(report.without_task.front().place.line == 7);
    CHECK(exceeded_limits(report).size() == 2);
}

TEST_CASE("the course's questions cannot be answered by position", "[lesson]") {
    for (const BlindStrategy& blind : report_of(english_lessons()).blind) {
        CAPTURE(blind.name, blind.right, blind.of);
        if (blind.name == "first" || blind.name == "second" || blind.name == "third")
            CHECK(blind.rate() <= blind.chance + blind_margin);
    }
}

TEST_CASE("every term of the glossary is introduced before it is used", "[lesson]") {
    const std::vector<EarlyTerm> early = report_of(english_lessons()).early_terms;
    for (const EarlyTerm& term : early)
        UNSCOPED_INFO(term.term << " in " << term.used.path << ":" << term.used.line);
    CHECK(early.empty());
}
