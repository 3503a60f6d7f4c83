#include "app/shell/handout/handout.h"
#include "app/shell/page/html.h"
#include "app/shell/page/math_html.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/lesson/library.h"
#include "core/lesson/questions/step_tasks.h"
#include "core/text/preset.h"
#include "tests/catch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace headscope;

namespace {

lesson::Lesson lesson_of(const std::string& id, const std::string& language = "en") {
    for (const lesson::FoundLesson& found : lesson::find_lessons({}, language))
        if (found.parsed.lesson.id == id)
            return found.parsed.lesson;
    FAIL("no lesson " << id);
    return {};
}

std::string page_of(const lesson::Lesson& lesson, const std::vector<std::string>& sentences = {}) {
    return app::handout_page(lesson, sentences, *engine::make_engine("cpu"));
}

nlohmann::json data_of(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const auto from = page.find(begin);
    REQUIRE(from != std::string::npos);
    return nlohmann::json::parse(
        page.substr(from + begin.size(), page.find("</script>", from) - from - begin.size()));
}

/// The float32 values of Base64 text.
std::vector<float> floats_of(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    for (std::size_t i = 0; i + 3 < text.size(); i += 4) {
        std::uint32_t three = 0;
        std::size_t padding = 0;
        for (std::size_t d = 0; d < 4; ++d) {
            const char c = text[i + d];
            padding += c == '=' ? 1 : 0;
            three = three << 6U | static_cast<std::uint32_t>(c == '=' ? 0 : digits.find(c));
        }
        for (std::size_t b = 0; b + padding < 3; ++b)
            bytes += static_cast<char>(three >> (16 - 8 * b) & 0xFFU);
    }
    REQUIRE(bytes.size() % 4 == 0);
    std::vector<float> values;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < 4; ++b)
            bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + b])) << 8 * b;
        values.push_back(std::bit_cast<float>(bits));
    }
    return values;
}

std::vector<float> values_of(const Trace& trace, TensorId id) {
    const Tensor& tensor = *trace.stage(id);
    return {tensor.data(), tensor.data() + tensor.shape().count()};
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
        ++found;
    return found;
}

/// Checks that the products of every score add up to it, and that every row of weights adds up to 1.
void check_sums(const nlohmann::json& map) {
    const auto q = floats_of(map["q"]), k = floats_of(map["k"]), scores = floats_of(map["scores"]),
               weights = floats_of(map["weights"]);
    const std::size_t H = map["H"], Hkv = map["Hkv"], dk = map["dk"], Tq = map["queries"].size(),
                      Tk = map["keys"].size();
    REQUIRE(q.size() == H * Tq * dk);
    REQUIRE(k.size() == Hkv * Tk * dk);
    REQUIRE(scores.size() == H * Tq * Tk);
    REQUIRE(weights.size() == H * Tq * Tk);
    for (std::size_t h = 0; h < H; ++h)
        for (std::size_t i = 0; i < Tq; ++i) {
            double row = 0;
            for (std::size_t j = 0; j < Tk; ++j) {
                double score = 0, size = 1;
                for (std::size_t c = 0; c < dk; ++c) {
                    const double product = static_cast<double>(q[(h * Tq + i) * dk + c]) *
                                           static_cast<double>(k[(h * Hkv / H * Tk + j) * dk + c]);
                    score += product;
                    size += std::abs(product);
                }
                const std::size_t cell = (h * Tq + i) * Tk + j;
                REQUIRE(std::abs(score - static_cast<double>(scores[cell])) <= 1e-5 * size);
                row += static_cast<double>(weights[cell]);
            }
            REQUIRE((std::abs(row - 1) <= 1e-5 || row == 0));
        }
}

/// Checks that each question of the steps is on the page, without its answer.
void check_questions(const lesson::Lesson& lesson, const std::string& page) {
    std::vector<const lesson::StepQuestion*> questions;
    for (const lesson::Step& step : lesson.steps)
        for (const lesson::StepQuestion* const question : lesson::questions_of(step.blocks))
            questions.push_back(question);
    const nlohmann::json keys = data_of(page)["questions"];
    REQUIRE(keys.size() == questions.size());
    REQUIRE(count(page, " data-asked=") == questions.size());
    for (std::size_t n = 0; n < questions.size(); ++n) {
        CAPTURE(questions[n]->id);
        CHECK(keys[n]["id"] == questions[n]->id);
        CHECK_FALSE(keys[n]["answer"].get<std::string>().empty());
        const auto from = page.find(" data-asked=\"" + std::to_string(n) + "\"");
        const std::string shown = page.substr(from, page.find("</section>", from) - from);
        CHECK(count(shown, "class=\"quiet give\" ") == 1);
        CHECK(shown.find("data-right") == std::string::npos);
        const std::string after = keys[n]["after"];
        CHECK((after.empty() || shown.find(after) == std::string::npos));
        // An answer can be given: in a field, or with one of several buttons.
        CHECK((count(shown, "<input ") == 1 || count(shown, " data-answer=") > 1 ||
               count(shown, " data-item=") > 1));
    }
}

} // namespace

TEST_CASE("a handout holds the engine's numbers bit by bit", "[handout]") {
    const nlohmann::json data = data_of(page_of(lesson_of("first-lesson")));
    const Problem problem = text::build_preset("first-lesson", "The cat sat down").problem;
    const Trace trace = engine::make_engine("cpu")->run(problem);
    const nlohmann::json& map = data["maps"][0];
    CHECK(map["sentence"] == "The cat sat down");
    CHECK(map["keys"] == nlohmann::json{"The", "cat", "sat", "down"});
    for (const auto& [name, id] :
         {std::pair("q", TensorId::q_heads), std::pair("k", TensorId::k_heads),
          std::pair("scores", TensorId::scores), std::pair("scaled", TensorId::scaled),
          std::pair("weights", TensorId::weights)}) {
        INFO(name);
        CHECK(floats_of(map[name]) == values_of(trace, id));
    }
    CHECK_FALSE(map.contains("masked")); // no mask: equal to `scaled`
    check_sums(map);
}

TEST_CASE("masked scores of a handout are minus infinity", "[handout]") {
    const nlohmann::json data = data_of(page_of(lesson_of("masks")));
    const auto masked =
        std::ranges::find_if(data["maps"], [](const auto& map) { return map.contains("masked"); });
    REQUIRE(masked != data["maps"].end());
    const std::vector<float> values = floats_of((*masked)["masked"]),
                             weights = floats_of((*masked)["weights"]);
    REQUIRE(std::ranges::any_of(values, [](float value) { return std::isinf(value); }));
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isinf(values[i]))
            CHECK(weights[i] == 0.0F);
}

TEST_CASE("every lesson has a handout whose sums are right", "[handout]") {
    for (const std::string language : {"en", "de"})
        for (const lesson::FoundLesson& found : lesson::find_lessons({}, language)) {
            const lesson::Lesson& lesson = found.parsed.lesson;
            CAPTURE(lesson.id, language);
            const std::string page = page_of(lesson);
            CHECK(page.size() < 1'500'000);
            CHECK(count(page, "{{") == 0);
            CHECK(count(page, "<article ") == lesson.steps.size());
            CHECK(count(page, "class=\"card question\"") == lesson.quiz.size());
            CHECK(count(page, " data-right>") == lesson.quiz.size());
            check_questions(lesson, page);
            for (const lesson::Reference& one : lesson.reading)
                CHECK(page.find("<b>" + app::html::escaped(one.title) + "</b>") != std::string::npos);
            // Every link to a term has its entry on the page.
            for (std::size_t at = 0; (at = page.find(" href=\"#term-", at)) != std::string::npos; ++at) {
                const std::string id = page.substr(at + 8, page.find('"', at + 8) - at - 8);
                CHECK(count(page, " id=\"" + id + "\"") == 1);
            }
            CHECK(page.find("<title>" + app::html::escaped(lesson.title) + "</title>") != std::string::npos);
            for (const char* const loads : {" src=", "<link", "url(", "@import"})
                CHECK(page.find(loads) == std::string::npos);
            const nlohmann::json data = data_of(page);
            CHECK(count(page, " data-table=") == data["tables"].size());
            for (const nlohmann::json& map : data["maps"])
                check_sums(map);
            for (const nlohmann::json& scene : data["scenes"]) {
                REQUIRE(scene["map"] < data["maps"].size());
                CHECK(scene["head"] < data["maps"][scene["map"].get<std::size_t>()]["H"]);
            }
            // Each button that shows a scene has one.
            for (std::size_t at = 0; (at = page.find(" data-scene=\"", at)) != std::string::npos; ++at)
                CHECK(std::stoul(page.substr(at + 13)) < data["scenes"].size());
        }
}

TEST_CASE("a handout is the same every time", "[handout]") {
    CHECK(page_of(lesson_of("masks")) == page_of(lesson_of("masks")));
}

TEST_CASE("tables of a handout hold the engine's numbers", "[handout]") {
    const std::string page = page_of(lesson_of("by-hand"));
    const nlohmann::json data = data_of(page);
    const Trace trace =
        engine::make_engine("cpu")->run(text::build_preset("cat-sleeps", "Cat sleeps").problem);
    // The first two tables of the lesson: scores and weights of head 0.
    const std::vector<float> scores = values_of(trace, TensorId::scores),
                             weights = values_of(trace, TensorId::weights);
    REQUIRE(data["tables"].size() >= 8); // seven of the lesson, and one row by hand
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(data["tables"][0][i]["value"].get<double>() == static_cast<double>(scores[i]));
        CHECK(data["tables"][0][i]["decimals"] == 0);
        CHECK(data["tables"][1][i]["value"].get<double>() == static_cast<double>(weights[i]));
        CHECK(data["tables"][1][i]["decimals"] == 2);
    }
    // The worksheet has a blank for each field, and the solution each number.
    const auto worksheet = page.find("<section class=\"paper\">"),
               solution = page.rfind("<section class=\"paper\">");
    REQUIRE(worksheet < solution);
    const std::string empty = page.substr(worksheet, solution - worksheet);
    CHECK(count(empty, "class=\"blank\"") >= count(page, "<input "));
    // A later question prints weights as cells to choose from; the tables before it do not.
    CHECK(empty.substr(0, empty.find("<ol>")).find("0.97") == std::string::npos);
    CHECK(page.find("<b>0.97</b>", solution) != std::string::npos);
}

TEST_CASE("sentences of a handout can be chosen", "[handout]") {
    const nlohmann::json data =
        data_of(page_of(lesson_of("first-lesson"), {"The dog saw the cat", "A cat ran"}));
    std::vector<std::string> sentences;
    for (const std::size_t scene : data["sentences"])
        sentences.push_back(data["maps"][data["scenes"][scene]["map"].get<std::size_t>()]["sentence"]);
    CHECK(sentences == std::vector<std::string>{"The cat sat down", "The dog saw the cat", "A cat ran"});
    std::string long_sentence;
    for (int i = 0; i < 200; ++i)
        long_sentence += "cat ";
    CHECK_THROWS_AS(page_of(lesson_of("first-lesson"), {long_sentence}), Error);
}

TEST_CASE("text of a lesson cannot break its handout", "[handout]") {
    lesson::Lesson lesson = lesson_of("first-lesson");
    lesson.title = "</title><script>alert(1)</script>";
    lesson.scene.sentence = "</script> cat";
    lesson.steps.resize(1);
    lesson.steps.front().scene = {};
    lesson.steps.front().blocks = {lesson::Paragraph{{{.text = "a < b & \"c\""}}}};
    lesson.quiz.clear();
    const std::string page = page_of(lesson);
    CHECK(count(page, "<script") == 2);
    CHECK(count(page, "</script>") == 2);
    CHECK(page.find("<p>a &lt; b &amp; &quot;c&quot;</p>") != std::string::npos);
    CHECK(data_of(page)["maps"][0]["keys"].back() == "cat");
}

TEST_CASE("formulas of a handout are MathML", "[handout]") {
    const auto math = [](const char* tex) { return app::html::math(lesson::parse_formula(tex)); };
    CHECK(math("\\frac{a}{2}") ==
          "<math display=\"block\"><mrow><mfrac><mrow><mi mathvariant=\"normal\">a</mi></mrow>"
          "<mrow><mn>2</mn></mrow></mfrac></mrow></math>");
    CHECK(count(math("\\begin{matrix} 1 & 2 \\\\ 3 & 4 \\end{matrix}"), "<mtr>") == 2);
    CHECK(math("W_Q").find("<msub>") != std::string::npos);
    CHECK(math("x^2").find("<msup>") != std::string::npos);
}
