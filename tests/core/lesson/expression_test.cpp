#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/lesson/expression.h"
#include "core/lesson/scene.h"
#include "tests/catch.h"

#include <cmath>
#include <utility>

using namespace headscope;
using namespace headscope::lesson;

namespace {

/// "Cat sleeps", whose numbers can be had on paper.
struct CatSleeps {
    Problem problem = project::build_recipe({.preset = "cat-sleeps", .sentence = "Cat sleeps"}).problem;
    Trace trace = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
    LessonState state{
        .problem = problem, .trace = trace, .stage = "scores", .row = 1, .head = 1, .done = {"quiz 1"}};

    double number(const std::string& text) const { return Expression::parse(text).number(state); }
    std::string word(const std::string& text) const {
        return std::get<std::string>(Expression::parse(text).value(state));
    }
    std::string fault(const std::string& text) const {
        try {
            Expression::parse(text).value(state);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

} // namespace

TEST_CASE("expressions compute what they say") {
    const CatSleeps lesson;
    const double s = 5 / std::sqrt(2.0), w = std::exp(s) / (std::exp(s) + 1);
    const std::vector<std::pair<std::string, double>> all{
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"2 ^ 3 ^ 2", 512},
        {"-2 ^ 2", -4},
        {"7 - 2 - 1", 4},
        {"8 / 4 / 2", 1},
        {"1 < 2 and 2 <= 2", 1},
        {"not 1 = 2 or 0", 1},
        {"1 != 1", 0},
        {"B + T + Tq + Tk + D", 11},
        {"H * dk + Hkv * dv", 8},
        {"parameters", 64},
        {"projection_flops", 8 * 2 * 16},
        {"attention_flops", 4 * 4 * 4},
        {"flops", 256 + 64},
        {"weights_bytes", 4 * 2 * 4},
        {"kv_cache_bytes", 4 * 2 * 2 * 4},
        {"scores[0][Cat, Cat]", 5},
        {"scores[0][0][0]", 5},
        {"scaled[0][0, 0]", s},
        {"weights[0][Cat, Cat]", w},
        {"weights[1][Cat, sleeps]", 0.5},
        {"sum(weights[0][Cat, :])", 1},
        {"mean(scores[0])", 1.25},
        {"max(x)", 2},
        {"min(x)", 0},
        {"count(x[:, 1:3])", 4},
        {"norm(x[Cat])", std::sqrt(5.0)},
        {"norm(W_O)", 2},
        {"entropy(0, sleeps)", std::log(2.0)},
        {"entropy(0, 1)", std::log(2.0)},
        {"entropy(1, \"Cat\")", std::log(2.0)},
        {"entropy(0, Cat)", -w * std::log(w) - (1 - w) * std::log(1 - w)},
        {"entropy(0) - entropy(1)", 0},
        {"distance(0, 1)", w - 0.5},
        {"distance(0, 0)", 0},
        {"previous(0)", 0.5},
        {"first(0)", 0.5},
        {"self(0)", (w + 0.5) / 2},
        {"next(0)", 1 - w},
        {"largest(0)", (w + 0.5) / 2},
        {"distance(0)", (1.5 - w) / 2},
        {"confidence(0)", (w + 0.5) / 2},
        {"share(0) + share(1)", 1},
        {"gain(1)", 1},
        {"difference(output, concat)", 0},
        {"difference(x[Cat], x[sleeps])", 2},
        {"sqrt(16) + exp(0) + ln(1) + abs(-2) + round(2.6)", 10},
        {"row", 1},
        {"head", 1},
        {"edited", 0},
        {"temperature", 1},
        {"done(\"quiz 1\")", 1},
        {"done(\"quiz 2\")", 0},
        {"stage = \"scores\"", 1},
        {"stage = \"weights\"", 0}};
    for (const auto& [text, expected] : all) {
        CAPTURE(text);
        CHECK(lesson.number(text) == Approx(expected).margin(1e-6));
    }
    CHECK(lesson.word("top(weights[0][Cat, :])") == "Cat");
    CHECK(lesson.word("top(weights[1][sleeps, :])") == "sleeps");
    CHECK(lesson.word("top(x[sleeps, :])") == "3");
    CHECK(lesson.word("stage") == "scores");
}

TEST_CASE("expressions that cannot be read or computed say why") {
    const CatSleeps lesson;
    const std::vector<std::pair<std::string, std::string>> all{
        {"", "it ends where"},
        {"1 +", "it ends where"},
        {"(1", "a bracket is not closed"},
        {"1 2", "unexpected text"},
        {"sum(x", "is not closed"},
        {"weights[0", "is not closed"},
        {"\"open", "quotation mark"},
        {"1 $ 2", "unexpected text"},
        {"speed", "there is no value \"speed\""},
        {"speed(1)", "there is no function \"speed\""},
        {"sum(1)", "sum needs cells"},
        {"sum(x, x)", "takes 1"},
        {"weights[0]", "is 4 numbers; name one cell"},
        {"entropy(2)", "heads are numbered 0 to 1"},
        {"gain(0.5)", "heads are numbered"},
        {"previous(0, 1)", "takes 1"},
        {"distance()", "takes"},
        {"top(weights)", "top needs one row"},
        {"difference(x, W_O)", "they need the same number"},
        {"stage + 1", "it needs numbers"},
        {"b_Q[0]", "has no b_Q"},
        {"weights[0][dog, Cat]", "no token \"dog\""}};
    for (const auto& [text, words] : all) {
        CAPTURE(text, lesson.fault(text));
        CHECK(lesson.fault(text).find(words) != std::string::npos);
    }
}

TEST_CASE("an expression lists the cells it reads") {
    const auto targets = Expression::parse("1 + sum(weights[0][Cat, :]) * x[0, 1]").targets();
    REQUIRE(targets.size() == 2);
    CHECK(target_text(targets[0]) == "weights[0][Cat, :]");
    CHECK(target_text(targets[1]) == "x[0, 1]");
}

TEST_CASE("a gate sees which cell is selected") {
    CatSleeps lesson;
    CHECK(lesson.number("selected(weights[1][Cat, :])") == 0);
    lesson.state.selected =
        CellRange{.tensor = TensorId::weights, .first = {0, 1, 0, 1}, .count = {1, 1, 1, 1}};
    CHECK(lesson.number("selected(weights[1][Cat, :])") == 1);
    CHECK(lesson.number("selected(weights[1][Cat, sleeps])") == 1);
    CHECK(lesson.number("selected(weights)") == 1);
    CHECK(lesson.number("selected(weights[1][Cat, Cat])") == 0);
    CHECK(lesson.number("selected(weights[0][Cat, sleeps])") == 0);
    CHECK(lesson.number("selected(scores[1][Cat, sleeps])") == 0);
    CHECK(lesson.fault("selected(1)").find("needs cells") != std::string::npos);
}
