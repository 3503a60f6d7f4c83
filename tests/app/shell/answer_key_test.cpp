#include "app/shell/handout/answer_key.h"
#include "app/shell/handout/handout.h"
#include "core/engine/engine.h"
#include "core/lesson/check.h"
#include "core/lesson/parse.h"
#include "core/lesson/questions/grade.h"
#include "core/lesson/questions/step_tasks.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>
#include <string>

// The keys with which the page of a handout judges answers.

using namespace headscope;
using nlohmann::ordered_json;

namespace {

/// A question about the first lesson's sentence, with its key.
struct KeyedQuestion {
    explicit KeyedQuestion(const std::string& text) {
        lesson::ParsedLesson parsed = lesson::parse_lesson(
            "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\npreset: first-lesson\n"
            "sentence: The cat sat down\n---\n## Step one\n```question\nid: q\nquestion: Q?\n" +
                text +
                "\n```\nA step with five words of text.\n\n```quiz\nquestion: Q\nchoices:\n"
                "- {text: a, why: b, right: true}\n- {text: c, why: d}\n- {text: e, why: f}\n```\n",
            "t.md");
        for (const lesson::LessonError& fault : parsed.faults)
            FAIL_CHECK(fault.line << ": " << fault.sentence);
        lesson = std::move(parsed.lesson);
        problem = project::build_recipe(lesson::recipe_of(lesson.scene)).problem;
        trace = engine::make_engine("cpu")->run(problem);
        question = lesson::questions_of(lesson.steps.at(0).blocks).at(0);
        key = app::answer_key(*question, state(), [](const lesson::Spans& spans) {
            std::string out;
            for (const lesson::Span& span : spans)
                out += span.text;
            return out;
        });
    }
    lesson::LessonState state() const { return {.problem = problem, .trace = trace}; }
    std::string hint(const std::string& answer) const {
        return lesson::grade(*question, answer, state()).hint;
    }
    /// The hint for an answer that is one of several.
    std::string hint_of_key(const std::string& answer) const {
        return key["hints"][std::to_string(key["verdicts"][answer].get<int>())];
    }

    lesson::Lesson lesson;
    Problem problem;
    Trace trace;
    const lesson::StepQuestion* question = nullptr;
    ordered_json key;
};

} // namespace

TEST_CASE("the key of a number has the engine's value and the program's hints", "[handout]") {
    const KeyedQuestion asked("kind: number\nanswer: weights[0][sat, cat]\nwithin: 0.02\n"
                              "mistakes:\n- {answer: \"scaled[0][sat, cat]\", why: That is a score.}");
    const std::int64_t at = 2 * 4 + 1; // head 0, row of sat, column of cat
    CHECK(asked.key["kind"] == "number");
    CHECK(asked.key["value"].get<double>() ==
          static_cast<double>(asked.trace.stage(TensorId::weights)->data()[at]));
    CHECK(asked.key["within"] == 0.02);
    CHECK(asked.key["answer"] == "0.86");
    CHECK(asked.key["hints"]["large"] == asked.hint("3"));
    CHECK(asked.key["hints"]["small"] == asked.hint("0.1"));
    CHECK(asked.key["hints"]["unreadable"] == asked.hint("much"));
    CHECK(asked.key["mistakes"][0]["why"] == "That is a score.");
    CHECK(std::abs(asked.key["mistakes"][0]["value"].get<double>() -
                   static_cast<double>(asked.trace.stage(TensorId::scaled)->data()[at])) < 1e-6);
}

TEST_CASE("the key of a shape tells sizes, their order and their number apart", "[handout]") {
    const KeyedQuestion asked("kind: shape\nanswer: [T, 2]\nmistakes:\n- {answer: [2, T], why: Turned.}");
    CHECK(asked.key["sizes"] == ordered_json{4, 2});
    CHECK(asked.key["hints"]["unreadable"] == asked.hint(""));
    CHECK(asked.key["hints"]["axes"] == asked.hint("4 x 2 x 1"));
    CHECK(asked.key["hints"]["order"] == asked.hint("2 x 4"));
    CHECK(asked.key["hints"]["sizes"] == asked.hint("4 x 3"));
    CHECK(asked.key["whys"]["2 × 4"] == "Turned.");
    CHECK_FALSE(KeyedQuestion("kind: shape\nanswer: [T, T]").key["hints"].contains("order"));
}

TEST_CASE("the key of a cell has a verdict on each cell", "[handout]") {
    const KeyedQuestion asked("kind: cell\namong: \"weights[0][sat, :]\"\nanswer: largest\n"
                              "mistakes:\n- {answer: \"weights[0][sat, sat]\", why: Itself.}");
    CHECK(asked.key["kind"] == "one");
    CHECK(asked.key["right"] == ordered_json{"1"});
    CHECK(asked.key["verdicts"].size() == 3);
    CHECK(asked.hint_of_key("0") == asked.hint("weights[0][sat, The]"));
    CHECK(asked.key["whys"] == ordered_json{{"2", "Itself."}});
    CHECK(asked.key["answer"] == "weights[0][sat, cat] = 0.86");
}

TEST_CASE("cells of several heads are named by their heads on a handout", "[handout]") {
    const KeyedQuestion asked("kind: cell\namong: q_heads\nanswer: q_heads[1][sat, 2]\n"
                              "mistakes:\n- {answer: \"q_heads[0][sat, 2]\", why: Head 0.}");
    CHECK(asked.key["right"] == ordered_json{"26"}); // (1 * 4 + 2) * 4 + 2
    CHECK(asked.key["whys"] == ordered_json{{"10", "Head 0."}});
    const std::string page = app::handout_page(asked.lesson, {}, *engine::make_engine("cpu"));
    CHECK(page.find(" data-answer=\"26\" aria-label=\"head 1, sat, 2: ") != std::string::npos);
    CHECK(page.find(" data-answer=\"31\" aria-label=\"head 1, down, 3: ") != std::string::npos);
    CHECK(page.find(" data-answer=\"32\"") == std::string::npos);
}

TEST_CASE("the key of words has the right ones and a hint for every number of others", "[handout]") {
    const KeyedQuestion one("kind: token\nanswer: cat\nmistakes:\n- {answer: The, why: No.}");
    CHECK(one.key["kind"] == "one");
    CHECK(one.key["right"] == ordered_json{"1"});
    CHECK(one.key["whys"]["0"] == "No.");
    const KeyedQuestion many("kind: token\nmany: true\nanswer: [down, cat]\n"
                             "mistakes:\n- {answer: \"sat, cat\", why: Not sat.}");
    CHECK(many.key["kind"] == "many");
    CHECK(many.key["words"] == ordered_json{1, 3});
    CHECK(many.key["hints"]["missing"] == many.hint("cat"));
    CHECK(many.key["hints"]["extra 1"] == many.hint("cat, sat"));
    CHECK(many.key["hints"]["extra 2"] == many.hint("The, sat"));
    CHECK(many.key["whys"]["1, 2"] == "Not sat.");
}

TEST_CASE("the key of an order has a verdict on every order", "[handout]") {
    const KeyedQuestion asked("kind: order\nitems:\n- {text: a, value: 1}\n- {text: b, value: 3}\n"
                              "- {text: c, value: 2}\nmistakes:\n- {answer: [1, 3, 2], why: Turned.}");
    CHECK(asked.key["kind"] == "order");
    CHECK(asked.key["right"] == ordered_json{"2, 3, 1"});
    CHECK(asked.key["verdicts"].size() == 5);
    CHECK(asked.hint_of_key("2, 1, 3") == asked.hint("2, 1, 3"));
    CHECK(asked.hint_of_key("1, 2, 3") == asked.hint("1, 2, 3"));
    CHECK(asked.key["whys"]["1, 3, 2"] == "Turned.");
    CHECK(asked.key["hints"]["unreadable"] == asked.hint("1, 2"));
    CHECK(asked.key["answer"] == "b > c > a");
}

TEST_CASE("questions about sizes hide no weights on a handout", "[handout]") {
    const auto asks = [](const std::string& text) {
        return app::asks_about_attention(*KeyedQuestion(text).question);
    };
    CHECK(asks("kind: number\nanswer: weights[0][sat, cat]"));
    CHECK(asks("kind: number\nanswer: round(100 * entropy(0))"));
    CHECK_FALSE(asks("kind: number\nanswer: sqrt(T * dk)"));
    CHECK_FALSE(asks("kind: shape\nanswer: [T, dk]"));
    CHECK(asks("kind: token\nanswer: cat"));
    CHECK(asks("kind: cell\namong: \"weights[0][sat, :]\"\nanswer: largest"));
    CHECK_FALSE(asks("kind: cell\namong: q_heads\nanswer: q_heads[1][sat, 2]"));
    CHECK(asks("kind: order\nitems:\n- {text: a, value: \"weights[0][sat, cat]\"}\n- {text: b, value: 2}"));
    CHECK_FALSE(asks("kind: order\nitems:\n- {text: a, value: 1}\n- {text: b, value: H}"));
}

TEST_CASE("a handout has the choices of a question in the order of the window", "[handout]") {
    const KeyedQuestion asked(
        "kind: choice\nchoices:\n- {text: one, why: w1}\n- {text: two, why: w2, right: true}\n"
        "- {text: three, why: w3}\n- {text: four, why: w4, last: true}");
    CHECK(asked.key["right"] == ordered_json{"2"});
    CHECK(asked.key["whys"] == ordered_json{{"1", "w1"}, {"2", "w2"}, {"3", "w3"}, {"4", "w4"}});
    const std::string page = app::handout_page(asked.lesson, {}, *engine::make_engine("cpu"));
    const auto& choices = std::get<lesson::ChoiceTask>(asked.question->task).choices;
    std::size_t before = 0;
    for (const std::size_t choice : lesson::screen_order(lesson::order_seed("t", "q"), choices)) {
        const auto at = page.find(" data-answer=\"" + std::to_string(choice + 1) + "\"");
        CHECK((at != std::string::npos && at > before));
        before = at;
    }
}
