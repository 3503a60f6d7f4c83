#include "core/base/assets.h"
#include "core/engine/engine.h"
#include "core/lesson/check.h"
#include "tests/catch.h"

#include <memory>
#include <string>

using namespace headscope;
using namespace headscope::lesson;

namespace {

struct Run {
    explicit Run(const project::Recipe& recipe)
        : problem(std::make_shared<const Problem>(
              project::with_edits(project::build_recipe(recipe).problem, recipe))),
          trace(std::make_shared<const Trace>(
              static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(*problem))) {}
    std::shared_ptr<const Problem> problem;
    std::shared_ptr<const Trace> trace;
};

project::Recipe two_heads() {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    return recipe;
}

/// Returns the text that a page about "The cat sat down" prints while `now` is on screen.
std::string said(const std::string& expression, const project::Recipe& now) {
    const Run page(two_heads()), changed(now);
    const PageNumbers own{.problem = page.problem, .trace = page.trace};
    LessonState state{.problem = *changed.problem, .trace = *changed.trace};
    state.page_numbers = &own;
    return print_value({.expression = Expression::parse(expression), .decimals = {}, .quoted = {}, .line = 0},
                       state);
}

std::vector<std::string> faults_found(const std::string& text) {
    const ParsedLesson parsed = parse_lesson(text, "test");
    std::vector<std::string> all;
    for (const LessonError& fault : parsed.faults)
        all.push_back(fault.sentence);
    for (const LessonError& fault : check_lesson(parsed.lesson, *engine::make_engine("cpu"), nullptr))
        all.push_back(fault.sentence);
    return all;
}

/// Returns true if something in the step reports the result of the task: the gate itself, or the next
/// block that is text.
bool says_what_happened(const Step& step, std::size_t gate) {
    if (!std::get<Gate>(step.blocks[gate]).after.empty())
        return true;
    std::size_t at = gate + 1;
    while (at < step.blocks.size() && std::holds_alternative<Claim>(step.blocks[at]))
        ++at;
    if (at == step.blocks.size())
        return false;
    const LessonBlock& next = step.blocks[at];
    const auto* callout = std::get_if<Callout>(&next);
    return std::holds_alternative<Paragraph>(next) || (callout != nullptr && callout->when);
}

} // namespace

TEST_CASE("a number of the prose is the lesson's own, or says what it was and is") {
    project::Recipe off = two_heads(), one_head = two_heads(), retyped = two_heads();
    off.gains = {1, 0};
    one_head.H = 1;
    retyped.sentence = "A dog ran away quickly";
    const std::string weight = "weights[0][sat, cat]";
    CHECK(said(weight, two_heads()) == "0.86");
    CHECK(said(weight, off) == "0.86"); // a head gain does not change it
    CHECK(said("output[sat, 1]", off) == "was 0.34, now −0.15");
    CHECK_THAT(said(weight, one_head), Catch::StartsWith("was 0.86, now "));
    // The new sentence lacks the words: the lesson's number is left.
    CHECK(said(weight, retyped) == "0.86");
    CHECK_THAT(said("weights[0][2, 1]", retyped),
               Catch::StartsWith("was 0.86, now ") || Catch::Equals("0.86"));
    // A word or a size belongs to its sentence.
    CHECK(said("H", one_head) == "2");
    CHECK(said("top(weights[0][down, :])", one_head) == "sat");
    // Nothing that is exact at first hides a change.
    CHECK(said("gain(1)", off) == "1");
    CHECK(said("share(1)", off) != said("share(1)", two_heads()));
}

TEST_CASE("what a page says only after a change speaks of that change alone") {
    const ParsedLesson parsed = parse_lesson(
        "---\nid: mine\ntitle: Mine\nminutes: 2\ndifficulty: beginner\npreset: first-lesson\n"
        "sentence: The cat sat down\n---\n\n## One\n```step\nstage: weights\n```\nFive words are needed "
        "here.\n\n"
        "> [!when gain(1) = 0] Now {{output[sat, 1]}}.\n\n> [!when gain(0) = 1] Always {{output[sat, 1]}}.\n",
        "test");
    REQUIRE(parsed.lesson.steps.size() == 1);
    const Run page(two_heads());
    project::Recipe off = two_heads();
    off.gains = {1, 0};
    const Run changed(off);
    const PageNumbers own{.problem = page.problem, .trace = page.trace};
    LessonState state{.problem = *changed.problem, .trace = *changed.trace};
    state.page_numbers = &own;
    const auto inside = [&](std::size_t block) {
        const auto& callout = std::get<Callout>(parsed.lesson.steps[0].blocks[block]);
        REQUIRE(is_shown(callout, state));
        return print_value(*std::get<Paragraph>(callout.blocks[0]).spans[1].value,
                           state_inside(callout, state));
    };
    CHECK(inside(1) == "−0.15");
    CHECK(inside(2) == "was 0.34, now −0.15");
}

TEST_CASE("playing a lesson plays every step after a change as well") {
    LessonTally tally;
    const Lesson lesson = parse_lesson(asset("lessons/first-lesson.md"), "").lesson;
    CHECK(check_lesson(lesson, *engine::make_engine("cpu"), &tally).empty());
    // Another sentence, another H, an ablated head; the last step is on a checkpoint, which keeps its H.
    CHECK(tally.changes == 3 * tally.steps - 1);
}

TEST_CASE("every task of the course is followed by what happened") {
    for (const std::string& name : asset_names("lessons/")) {
        const Lesson lesson = parse_lesson(asset(name), name).lesson;
        for (const Step& step : lesson.steps)
            for (std::size_t i = 0; i < step.blocks.size(); ++i)
                if (const auto* gate = std::get_if<Gate>(&step.blocks[i])) {
                    INFO(name << ": " << gate->task);
                    CHECK(says_what_happened(step, i));
                }
    }
}

TEST_CASE("what a task says afterwards quotes its numbers, and they are checked after the solution") {
    const std::string good = asset("lessons/by-hand.md"), number = "{{weights[1][Cat, sleeps] = 0.67}}";
    const auto with = [&](const std::string& other) {
        std::string text = good;
        return text.replace(text.find(number), number.size(), other);
    };
    REQUIRE(good.find(number) != std::string::npos);
    CHECK(faults_found(good).empty());
    CHECK_THAT(faults_found(with("{{weights[1][Cat, sleeps] = 0.50}}")).at(0),
               Catch::Contains("says 0.50 for weights[1][Cat, sleeps], and the engine computes 0.67"));
    CHECK_THAT(faults_found(with("{{weights[1][Cat, sleeps]}}")).at(0),
               Catch::Contains("quote its number, as in {{weights[1][Cat, sleeps] = 0.42}}"));
}
