#include "core/engine/engine.h"
#include "core/lesson/check.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/check_question.h"
#include "core/lesson/questions/grade.h"
#include "core/lesson/questions/step_tasks.h"
#include "tests/catch.h"

#include <algorithm>
#include <string>
#include <vector>

// Questions in the steps of a lesson, and claims.

using namespace headscope;
using namespace headscope::lesson;
using Catch::Contains;
using Verdict = Grade::Verdict;

namespace {

const std::string lesson_front =
    "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\npreset: first-lesson\n"
    "sentence: The cat sat down\n---\n"; // 8 lines
const std::string lesson_quiz = "\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n"
                                "- {text: c, why: d}\n- {text: e, why: f}\n```\n";

/// A lesson whose step has the block; its first line of text is line 11.
std::string with_block(const std::string& kind, const std::string& text) {
    return lesson_front + "## Step one\n```" + kind + "\n" + text +
           "\n```\nA step with five words of text.\n" + lesson_quiz;
}

std::vector<std::string> played_faults(const std::string& text, LessonTally* tally = nullptr) {
    const ParsedLesson parsed = parse_lesson(text, "t.md");
    std::vector<LessonError> faults = parsed.faults;
    const auto played = check_lesson(parsed.lesson, *engine::make_engine("cpu"), tally);
    faults.insert(faults.end(), played.begin(), played.end());
    std::vector<std::string> lines;
    for (const LessonError& fault : faults)
        lines.push_back(std::to_string(fault.line) + ": " + fault.sentence);
    return lines;
}

/// A question with the numbers of its page.
struct Asked {
    explicit Asked(const std::string& text) {
        ParsedLesson parsed = parse_lesson(with_block("question", "id: q\nquestion: Q?\n" + text), "t.md");
        for (const LessonError& fault : parsed.faults)
            FAIL_CHECK(fault.line << ": " << fault.sentence);
        lesson = std::move(parsed.lesson);
        REQUIRE(questions_of(lesson.steps.at(0).blocks).size() == 1);
        problem = project::build_recipe(recipe_of(lesson.scene)).problem;
        trace = engine::make_engine("cpu")->run(problem);
    }
    const StepQuestion& question() const { return *questions_of(lesson.steps.at(0).blocks).front(); }
    LessonState state() const { return {.problem = problem, .trace = trace}; }
    Grade grade(const std::string& answer) const { return lesson::grade(question(), answer, state()); }
    Verdict verdict(const std::string& answer) const { return grade(answer).verdict; }
    double number(const std::string& expression) const {
        return Expression::parse(expression).number(state());
    }

    Lesson lesson;
    Problem problem;
    Trace trace;
};

const std::string choices =
    "\nchoices:\n- {text: a, why: b}\n- {text: c, why: d, right: true}\n- {text: e, why: f}";

} // namespace

TEST_CASE("a number is right within half a unit of its last decimal, in any common spelling", "[lesson]") {
    const Asked asked("kind: number\nanswer: 0.25\nmistakes:\n- {answer: 1 / 8, why: Half of it.}");
    for (const char* right : {"0.25", " .25", "0,25", "25 %", "25%", "1/4", "0.2549", "0.245", "2.5e-1"}) {
        CAPTURE(right);
        CHECK(asked.verdict(right) == Verdict::right);
    }
    CHECK(asked.verdict("0.256") == Verdict::wrong);
    CHECK_THAT(asked.grade("0.4").hint, Contains("too large"));
    CHECK_THAT(asked.grade("−0.4").hint, Contains("too small"));
    for (const char* none : {"", "many", "0.2.5", "nan", "inf", "1/0"}) {
        CAPTURE(none);
        CHECK(asked.verdict(none) == Verdict::unreadable);
    }
    const Grade mistake = asked.grade("0.125");
    REQUIRE(mistake.why != nullptr);
    CHECK(mistake.why->front().text == "Half of it.");
    CHECK(asked.grade("0.4").why == nullptr);
}

TEST_CASE("a number with thousands may be grouped, and within replaces the decimals", "[lesson]") {
    const Asked large("kind: number\nanswer: 1024 * T\nwithin: 10");
    CHECK(large.verdict("4,096") == Verdict::right);
    CHECK(large.verdict("4 100") == Verdict::right);
    CHECK(large.verdict("4107") == Verdict::wrong);
    const Asked rough("kind: number\nanswer: 1 / 3\nwithin: 0.0001");
    CHECK(rough.verdict("0.33") == Verdict::wrong);
    CHECK(rough.verdict("0.3333") == Verdict::right);
    CHECK(right_answer(rough.question(), rough.state()) == "0.3333");
    const Asked whole("kind: number\nanswer: T * dk\ndecimals: 0");
    CHECK(right_answer(whole.question(), whole.state()) == "16");
    CHECK(whole.verdict("16.5") == Verdict::right);
    CHECK(whole.verdict("16.6") == Verdict::wrong);
}

TEST_CASE("a shape may be typed with a cross, a letter or commas", "[lesson]") {
    const Asked asked("kind: shape\nanswer: [T, D]\nmistakes:\n- {answer: [D, T], why: Columns first.}");
    for (const char* right : {"4 x 8", "4 × 8", "(4, 8)", "4,8", "[4, 8]", "4X8", "4*8"}) {
        CAPTURE(right);
        CHECK(asked.verdict(right) == Verdict::right);
    }
    CHECK_THAT(asked.grade("8 x 4").hint, Contains("order"));
    CHECK(asked.grade("8, 4").why != nullptr);
    CHECK_THAT(asked.grade("4 x 8 x 1").hint, Contains("number of axes"));
    CHECK_THAT(asked.grade("4 x 9").hint, Contains("size"));
    CHECK(asked.verdict("four by eight") == Verdict::unreadable);
    CHECK(asked.verdict("4 x") == Verdict::unreadable);
    CHECK(printed_answer(asked.question(), "(4,8)", asked.state()) == "4 × 8");
}

TEST_CASE("a click counts only among the cells of its question", "[lesson]") {
    const Asked asked("kind: cell\namong: 'weights[0][sat, :]'\nanswer: largest");
    const double cat = asked.number("weights[0][sat, cat]"),
                 largest = asked.number("max(weights[0][sat, :])");
    REQUIRE(cat == largest);
    CHECK(asked.verdict(cell_answer(TensorId::weights, {0, 0, 2, 1})) == Verdict::right);
    CHECK(asked.verdict("weights[0][sat, down]") == Verdict::wrong);
    CHECK_THAT(asked.grade("weights[0][sat, down]").hint, Contains("larger"));
    CHECK(asked.verdict("weights[1][sat, cat]") == Verdict::unreadable);
    CHECK(asked.verdict("weights[0][cat, cat]") == Verdict::unreadable);
    CHECK(asked.verdict("scores[0][sat, cat]") == Verdict::unreadable);
    CHECK(asked.verdict("weights[0][sat, :]") == Verdict::unreadable);
    const Asked named("kind: cell\namong: 'q'\nanswer: 'q[cat, 3]'");
    CHECK(named.verdict(cell_answer(TensorId::q, {0, 1, 3, 0})) == Verdict::right);
    CHECK(named.verdict("q[cat, 2]") == Verdict::wrong);
    const Asked smallest("kind: cell\namong: 'scores[1]'\nanswer: smallest");
    CHECK(smallest.verdict(right_answer(smallest.question(), smallest.state())) == Verdict::right);
    CHECK(smallest.verdict(wrong_answer(smallest.question(), smallest.state())) == Verdict::wrong);
}

TEST_CASE("words are answered by their spelling or their position", "[lesson]") {
    const Asked one("kind: token\nanswer: cat");
    CHECK(one.verdict("cat") == Verdict::right);
    CHECK(one.verdict("1") == Verdict::right);
    CHECK(one.verdict("sat") == Verdict::wrong);
    CHECK(one.verdict("dog") == Verdict::unreadable);
    CHECK(printed_answer(one.question(), "1", one.state()) == "cat");
    const Asked many("kind: token\nanswer: [cat, sat]\nmany: true");
    CHECK(many.verdict("sat, 1") == Verdict::right);
    CHECK_THAT(many.grade("sat").hint, Contains("missing"));
    CHECK_THAT(many.grade("sat, down, The").hint, Contains("2 of your words"));
    CHECK(many.verdict("") == Verdict::unreadable);
}

TEST_CASE("an order is right if no item is larger than the one before it", "[lesson]") {
    const Asked asked("kind: order\nitems:\n- {text: two, value: 2}\n- {text: three, value: 3}\n"
                      "- {text: also two, value: 2}\n- {text: one, value: 1}");
    CHECK(asked.verdict("2, 1, 3, 4") == Verdict::right);
    CHECK(asked.verdict("2, 3, 1, 4") == Verdict::right); // equal values
    CHECK_THAT(asked.grade("2, 4, 1, 3").hint, Contains("first"));
    CHECK(asked.verdict("2, 1, 3") == Verdict::unreadable);
    CHECK(asked.verdict("2, 2, 1, 3") == Verdict::unreadable);
    CHECK(printed_answer(asked.question(), "2, 1, 3, 4", asked.state()) == "three > two > also two > one");
}

TEST_CASE("a choice explains itself", "[lesson]") {
    const Asked asked("kind: choice" + choices);
    CHECK(asked.verdict("2") == Verdict::right);
    CHECK(asked.verdict("1") == Verdict::wrong);
    CHECK(asked.grade("3").why->front().text == "f");
    CHECK(asked.verdict("4") == Verdict::unreadable);
    CHECK(asked.verdict("0") == Verdict::unreadable);
}

TEST_CASE("the check answers a question and refuses what no learner could answer", "[lesson]") {
    LessonTally tally;
    const auto faults = [&](const std::string& text) {
        return played_faults(with_block("question", "id: q\nquestion: Q?\n" + text), &tally);
    };
    CHECK(faults("kind: number\nanswer: weights[0][sat, cat]\nafter: 'It is {{weights[0][sat, cat]}}.'")
              .empty());
    CHECK(tally.step_questions == 1);
    struct Broken {
        std::string text, words;
        int line;
    };
    const std::vector<Broken> all{
        {"kind: number\nanswer: weights[0][sat, dog]", "no token \"dog\"", 11},
        {"kind: number\nanswer: 2\nmistakes:\n- {answer: 4 / 2, why: W}", "accepted as right", 16},
        {"kind: number\nanswer: 2\nmistakes:\n- {answer: 3, why: W}\n- {answer: 6 / 2, why: W}",
         "listed twice", 16},
        {"kind: token\nanswer: cat\nmistakes:\n- {answer: dog, why: W}", "not an answer", 16},
        {"kind: cell\namong: 'weights[0][sat, cat]'\nanswer: largest", "accepts every answer", 11},
        {"kind: cell\namong: 'weights[0][sat, :]'\nanswer: 'weights[1][sat, cat]'", "refuses its own answer",
         11},
        {"kind: token\nanswer: [The, cat, sat, down]\nmany: true", "accepts every answer", 11},
        {"kind: number\nanswer: 2\nshow: {H: 4}\nafter: 'Now {{weights[0][sat, cat]}}.'", "quote its number",
         11},
        {"kind: essay\nanswer: 2", "it can be number, shape, cell, token, order or choice", 13},
        {"answer: 2", "has no \"kind\"", 11},
        {"kind: number", "add answer: weights[0][sat, cat]", 11},
        {"kind: number\nanswer: 2 +", "ends where a number", 14},
        {"kind: number\nanswer: 2\ndecimals: 9", "it can be 0 to 8", 15},
        {"kind: number\nanswer: 2\nhint: x", "no entry \"hint\"", 15},
        {"kind: token\nanswer: [cat, sat]", "add many: true", 14},
        {"kind: order\nitems:\n- {text: one, value: 1}", "has 1 items", 15},
        {"kind: choice\nchoices:\n- {text: a, why: b}", "needs 3 to 5", 15}};
    for (const Broken& broken : all) {
        CAPTURE(broken.text);
        bool found = false;
        for (const std::string& fault : faults(broken.text)) {
            UNSCOPED_INFO(fault);
            found |= fault.starts_with(std::to_string(broken.line) + ":") &&
                     fault.find(broken.words) != std::string::npos;
        }
        CHECK(found);
    }
}

TEST_CASE("two questions of a lesson have different ids, and done names one", "[lesson]") {
    const std::string one = "```question\nid: a\nkind: number\nquestion: Q?\nanswer: 1\n```\n";
    const std::string step = "## Step\nA step with five words of text.\n" + one;
    const auto faults = played_faults(lesson_front + step + "\n## Other\nA step with five words of text.\n" +
                                      one + lesson_quiz);
    REQUIRE(faults.size() == 1);
    CHECK_THAT(faults.front(), Contains("the id \"a\" is used twice"));
    const std::string gate = "```gate\ntask: Answer.\nwhen: done(\"a\")\nsolution: {stage: scores}\n```\n";
    CHECK(played_faults(lesson_front + step + gate + lesson_quiz).empty());
}

TEST_CASE("the scene that an answer shows leaves a task after it to the learner", "[lesson]") {
    const auto faults = [](const std::string& when) {
        return played_faults(lesson_front +
                             "## Step\nA step with five words of text.\n```question\nid: q\nkind: number\n"
                             "question: Q\nanswer: 4\nshow: {sentence: cat sat}\n```\n```gate\ntask: Do it.\n"
                             "when: " +
                             when + "\nsolution: {sentence: cat sat, stage: scores}\n```\n" + lesson_quiz);
    };
    CHECK(faults("T = 2 and stage = \"scores\"").empty());
    REQUIRE(faults("T = 2").size() == 1);
    CHECK_THAT(faults("T = 2").front(), Contains("the answer to \"q\" opens the gate \"T = 2\""));
    CHECK_THAT(faults("retyped").front(), Contains("opens the gate \"retyped\""));
}

TEST_CASE("own in the text after a gate is the value on the step's own page", "[lesson]") {
    const auto faults = [](const std::string& after) {
        return played_faults(with_block(
            "gate",
            "task: Type cat sat.\nwhen: T = 2 and own(T) = 4\nsolution: {sentence: cat sat}\nafter: \"" +
                after + "\""));
    };
    CHECK(faults("{{own(T) = 4}} words became {{T = 2}}.").empty());
    REQUIRE(faults("{{own(T) = 2}} words.").size() == 1);
}

TEST_CASE("a claim that does not hold is named with both sides", "[lesson]") {
    const auto faults = [](const std::string& text) { return played_faults(with_block("claim", text)); };
    CHECK(faults("says: It is large.\nholds: weights[0][sat, cat] > 0.5").empty());
    CHECK(faults("says: S\nsource: Vaswani et al. 2017, section 3.2").empty());
    const auto wrong = faults("says: It is small.\nholds: weights[0][sat, cat] < 0.5 and T = 4");
    REQUIRE(wrong.size() == 1);
    CHECK_THAT(wrong.front(), Contains("11: the lesson says \"It is small.\"") && Contains(" < 0.5000") &&
                                  !Contains("4 = 4"));
    // The value on the step's own page, next to that of the claim's scene.
    CHECK(faults("says: S\nholds: own(T) = 4 and T = 2\nscene: {sentence: cat sat}").empty());
    CHECK(faults("says: S\nholds: own(weights[0][sat, cat]) = weights[0][sat, cat]").empty());
    CHECK_THAT(faults("says: S").at(0), Contains("no evidence"));
    CHECK_THAT(faults("holds: T = 4").at(0), Contains("has no \"says\""));
    CHECK_THAT(faults("says: S\nholds: T =").at(0), Contains("ends where"));
}

TEST_CASE("choices are shuffled by a fixed seed, and one with last stays last", "[lesson]") {
    std::vector<QuizChoice> choices(5);
    choices[1].last = true;
    std::vector<int> firsts(5, 0);
    for (int n = 0; n < 1000; ++n) {
        const auto order = screen_order(order_seed("lesson", std::to_string(n)), choices);
        CHECK(order.back() == 1);
        auto sorted = order;
        std::ranges::sort(sorted);
        REQUIRE(sorted == std::vector<std::size_t>{0, 1, 2, 3, 4});
        ++firsts[order.front()];
    }
    for (const int c : {0, 2, 3, 4}) {
        CHECK(firsts[static_cast<std::size_t>(c)] > 200);
        CHECK(firsts[static_cast<std::size_t>(c)] < 300);
    }
    // The order of a question must not change between releases: learners return to it.
    CHECK(shuffled("masks/0", 4) == shuffled(order_seed("masks", "0"), 4));
    CHECK(shuffled("masks/0", 4) == std::vector<std::size_t>{3, 0, 2, 1});
}
