#include "core/lesson/expression.h"
#include "core/lesson/formula.h"
#include "core/lesson/parse.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/lesson/scene.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

using namespace headscope;
using namespace headscope::lesson;

namespace {

const std::string front = "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n"; // 6 lines
const std::string step = "## S\nSome words of text.\n";                                    // lines 7, 8
const std::string quiz = "\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n"
                         "- {text: c, why: d}\n- {text: e, why: f}\n```\n";

std::string with_reading(const std::string& entries) {
    return "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\nreading:\n- " + entries + "\n---\n" +
           step + quiz; // the entry begins in line 7
}

std::string block(const std::string& kind, const std::string& text) {
    return front + step + "```" + kind + "\n" + text + "\n```\n" + quiz; // its text begins in line 10
}

} // namespace

TEST_CASE("the smallest lesson has no faults") {
    const ParsedLesson parsed = parse_lesson(front + step + quiz, "t.md");
    for (const LessonError& fault : parsed.faults)
        FAIL_CHECK(fault.line << ": " << fault.sentence);
    REQUIRE(parsed.lesson.steps.size() == 1);
    CHECK(parsed.lesson.steps.front().title == "S");
    CHECK(parsed.lesson.quiz.size() == 1);
    CHECK(parse_lesson("", "empty.md").faults.size() >= 2);
}

TEST_CASE("the lessons of the corpus have faults as their names say") {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/corpus/lesson"))) {
        const std::string name = entry.path().filename().string();
        const std::vector<LessonError> faults = parse_lesson(read_file(entry.path().string()), name).faults;
        CAPTURE(name, faults.empty() ? "" : faults.front().sentence);
        CHECK(faults.empty() == name.starts_with("good_"));
        ++files;
    }
    CHECK(files > 10);
}

TEST_CASE("the expressions and formulas of the corpus are accepted or refused as their names say") {
    const auto refused = [](const std::string& text, bool formula) {
        try {
            formula ? static_cast<void>(parse_formula(text)) : static_cast<void>(Expression::parse(text));
            return false;
        } catch (const Error&) {
            return true;
        }
    };
    int files = 0;
    for (const bool formula : {false, true})
        for (const auto& entry : std::filesystem::directory_iterator(
                 test_data(formula ? "/corpus/formula" : "/corpus/expression"))) {
            const std::string name = entry.path().filename().string();
            CAPTURE(name);
            CHECK(refused(read_file(entry.path().string()), formula) == name.starts_with("bad_"));
            ++files;
        }
    CHECK(files > 10);
}

TEST_CASE("faults name their line and say what is wrong") {
    struct Broken {
        std::string text;
        int line;
        std::string words;
    };
    const std::vector<Broken> all{
        {step + quiz, 1, "the front matter is missing"},
        {"---\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n" + step + quiz, 2, "has no \"id\""},
        {"---\nid: t\ntitle: T\nminutes: soon\ndifficulty: beginner\n---\n" + step + quiz, 4,
         "\"minutes\" of the front matter is not a whole number"},
        {"---\nid: t\ntitle: T\nminutes: 1\ndifficulty: hard\n---\n" + step + quiz, 5,
         "it can be beginner, intermediate or advanced"},
        {"---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\ncolour: red\n---\n" + step + quiz, 6,
         "has no entry \"colour\""},
        {"---\nid: t\n  bad: [\n---\n" + step + quiz, 3, "is not YAML"},
        {front + "Words.\n" + step + quiz, 7, "before the first step"},
        {front + "\n- One,\n- two\n\nand more\n" + step + quiz, 8, "before the first step"},
        {front + "\n- One,\n- two\n\nand more\n" + step + quiz, 11, "before the first step"},
        {front + step, 7, "the lesson has no quiz"},
        {front + quiz, 7, "the lesson has no step"},
        {front + "## S\nThe value {{weights[0 is open.\n" + quiz, 8, "does not end with }}"},
        {front + "## S\nMore.\n\nThe value {{1 +}} ends.\n" + quiz, 10, "it ends where a number"},
        {front + "## S\nThe [[softmax is open.\n" + quiz, 8, "does not end with ]]"},
        {with_reading("why: W"), 7, "has no \"title\""},
        {with_reading("title: T"), 7, "has no \"why\""},
        {with_reading("title: T\n  why: W\n  level: hard"), 9,
         "it can be beginner, intermediate or advanced"},
        {with_reading("title: T\n  why: W\n  url: www.example.org"), 9, "is not a web address"},
        {block("step", "stage: nowhere"), 10, "there is no stage \"nowhere\""},
        {block("step", "stage: weights\nhead: first"), 11,
         "\"head\" of the step block is not a whole number"},
        {block("step", "point: wings[0]"), 10, "there is no tensor \"wings\""},
        {block("step", "edit: {W_O: many}"), 10, "is not a list of \"name: number\" lines"},
        {block("step", "gain: {left: 1}"), 10, "\"left\" is not a head"},
        {block("step", "view: map"), 10, "it can be heatmap, arcs, text or graph"},
        {block("step", "mask: '[{\"kind\":\"round\"}]'"), 10, "mask"},
        {block("step", "screen: map"), 10,
         "it can be stages, atlas, effects, ablated, averaged, patching, circuits or why"},
        {block("step", "patched: heads"), 10, "\"patched\" of the step block is \"heads\""},
        {block("step", "patch: '2'"), 10, "\"2\" is not a cell"},
        {block("gate", "task: Do it."), 10, "has no condition"},
        {block("gate", "task: Do it.\nwhen: H >"), 11, "cannot be read"},
        {block("fill", "id: a\ntask: Fill."), 10, "has no cells"},
        {block("show", "stage: weights"), 10, "has no \"label\""},
        {block("quiz", "question: Q\nchoices:\n- {text: a, why: b, right: true}"), 12, "it needs 3 to 5"},
        {block("quiz",
               "question: Q\nchoices:\n- {text: a, why: b}\n- {text: c, why: d}\n- {text: e, why: f}"),
         12, "one choice with right: true"},
        {block("quiz",
               "question: Q\nchoices:\n- {text: a, right: true, why: b}\n- {text: c}\n- {text: e, why: f}"),
         13, "has no \"why\""}};
    for (const Broken& broken : all) {
        CAPTURE(broken.text);
        const std::vector<LessonError> faults = parse_lesson(broken.text, "t.md").faults;
        bool found = false;
        for (const LessonError& fault : faults) {
            UNSCOPED_INFO(fault.line << ": " << fault.sentence);
            found |= fault.line == broken.line && fault.sentence.find(broken.words) != std::string::npos;
        }
        CHECK(found);
    }
}

TEST_CASE("references and terms are read, and brackets around numbers stay text") {
    const Lesson lesson =
        parse_lesson(with_reading("title: A Book\n  by: Author\n  year: 2020\n  where: section 2\n"
                                  "  url: https://example.org\n  level: beginner\n  why: W"),
                     "")
            .lesson;
    REQUIRE(lesson.reading.size() == 1);
    const Reference& book = lesson.reading.front();
    CHECK(std::tuple(book.title, book.by, book.year, book.where, book.url, book.level) ==
          std::tuple("A Book", "Author", 2020, "section 2", "https://example.org", "beginner"));
    CHECK(book.why.front().text == "W");

    const ParsedLesson parsed = parse_lesson(
        front + "## S\nOne [[softmax]] and\none [[attention|attends to]] in\n[[1, 2]], {{T}}\nhere.\n" + quiz,
        "");
    CHECK(parsed.faults.empty());
    const Spans& spans = std::get<Paragraph>(parsed.lesson.steps.at(0).blocks.at(0)).spans;
    REQUIRE(spans.size() == 7);
    CHECK((spans[1].text == "softmax" && spans[1].term == "softmax" && spans[1].line == 8));
    CHECK((spans[3].text == "attends to" && spans[3].term == "attention" && spans[3].line == 9));
    CHECK(spans[4].text == " in [[1, 2]], ");
    CHECK(line_at(spans[4], 0) == 9);
    CHECK(line_at(spans[4], spans[4].text.find("[[")) == 10);
    CHECK(spans[5].value.has_value());
    CHECK(line_at(spans[6], 1) == 11);
}

TEST_CASE("line ends of Windows count as one line") {
    std::string text = front + "## S\nMore.\n\nThe value {{1 +}} ends.\n" + quiz;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
        text.replace(at, 1, "\r\n");
    const auto faults = parse_lesson(text, "t.md").faults;
    REQUIRE(faults.size() == 1);
    CHECK(faults.front().line == 10);
}

TEST_CASE("a scene laid over another replaces, adds edits, and ends a mask") {
    const auto scene = [](const std::string& text) {
        return parse_lesson(block("step", text), "").lesson.steps.at(0).scene;
    };
    const StepScene under =
        scene("preset: first-lesson\nsentence: The cat sat\nmask: '[{\"kind\":\"causal\"}]'\n"
              "H: 4\nedit: {W_O: 0}\npoint: weights[0]");
    const StepScene over = combine_scenes(under, scene("mask: none\nedit: {W_Q: 1}\npoint: x"));
    CHECK(over.sentence == "The cat sat");
    CHECK(over.H == 4);
    CHECK(over.edits.size() == 2);
    CHECK(over.point.size() == 1);
    // Outlines stay if only numbers change.
    CHECK(combine_scenes(under, scene("mask: none\ngain: {0: 0}\nedit: {W_Q: 1}")).point.size() == 1);
    CHECK(combine_scenes(under, scene("row: cat")).point.empty());
    CHECK(combine_scenes(under, scene("sentence: A dog")).point.empty());
    CHECK(recipe_of(over).extra_mask.empty());
    CHECK(recipe_of(under).extra_mask.size() == 1);
    CHECK(recipe_of(combine_scenes(scene("mask: causal"), scene("mask: '[{\"kind\":\"causal\"}]'"))).mask ==
          project::MaskChoice::none);
    const StepScene other = combine_scenes(under, scene("preset: eight-experts"));
    CHECK(!other.sentence); // the preset's own
}

TEST_CASE("a scene's second sentence stays, is replaced, and ends") {
    const auto kv = [](const StepScene& scene) { return recipe_of(scene).kv_sentence; };
    StepScene translation;
    translation.preset = "translation";
    CHECK(kv(translation) == "Le chat boit de l'eau froide"); // the preset's own
    StepScene sentence;
    sentence.sentence = "The dog drinks";
    CHECK(kv(combine_scenes(translation, sentence)) == "Le chat boit de l'eau froide");
    StepScene second;
    second.kv_sentence = "Le chien boit";
    const StepScene both = combine_scenes(combine_scenes(translation, sentence), second);
    CHECK(kv(both) == "Le chien boit");
    CHECK(recipe_of(both).sentence == "The dog drinks");
    StepScene none;
    none.kv_sentence = "";
    CHECK(kv(combine_scenes(both, none)).empty());
    StepScene other;
    other.preset = "first-lesson";
    CHECK(kv(combine_scenes(both, other)).empty());
    CHECK(recipe_of(combine_scenes(both, other)).sentence == "The cat sat down");
}

TEST_CASE("a quotation with a condition is read, brackets and all, and one that cannot be read is a fault") {
    const auto faults_of = [](const std::string& mark) {
        return parse_lesson(block("step", "stage: weights") + "\n> [!when " + mark + "] Now.\n", "").faults;
    };
    const ParsedLesson parsed =
        parse_lesson(block("step", "stage: weights") + "\n> [!when weights[0][1, 2] > 0.5] Now *so*.\n", "");
    CHECK(parsed.faults.empty());
    const auto& aside = std::get<Callout>(parsed.lesson.steps.at(0).blocks.back());
    REQUIRE(aside.when);
    CHECK(aside.when->text() == "weights[0][1, 2] > 0.5");
    CHECK(std::get<Paragraph>(aside.blocks.at(0)).spans.front().text == "Now ");
    CHECK(faults_of("edited").empty());
    REQUIRE(faults_of("gain(").size() == 1);
    CHECK(faults_of("gain(").front().line > 10);
}

TEST_CASE("a boxed aside keeps the blanks before what is set off in it") {
    const ParsedLesson parsed =
        parse_lesson(block("step", "stage: weights") + "\n> [!note]  Type *two* words, {{D}} in all.\n", "");
    std::string text;
    for (const LessonBlock& one : parsed.lesson.steps.at(0).blocks)
        if (const auto* callout = std::get_if<Callout>(&one)) {
            CHECK(callout->kind == "note");
            for (const Span& span : std::get<Paragraph>(callout->blocks.at(0)).spans)
                text += span.value ? "8" : span.text;
        }
    CHECK(text == "Type two words, 8 in all.");
}

TEST_CASE("emphasis that ends without a beginning, or begins without an end, styles no words but its own") {
    const auto spans_of = [](const std::string& text, std::size_t paragraph) {
        const ParsedLesson parsed = parse_lesson(block("step", "stage: weights") + "\n" + text + "\n", "");
        CHECK(parsed.faults.empty());
        return std::get<Paragraph>(parsed.lesson.steps.at(0).blocks.at(paragraph)).spans;
    };
    const Spans ended = spans_of("Plain [](*)* and **strong** words.", 1);
    REQUIRE(ended.size() == 3);
    CHECK(ended[0].style == SpanStyle::plain);
    CHECK((ended[1].text == "strong" && ended[1].style == SpanStyle::strong));
    CHECK((ended[2].text == " words." && ended[2].style == SpanStyle::plain));
    const Spans next = spans_of("*[](*) begun.\n\nThe next paragraph.", 2);
    REQUIRE(next.size() == 1);
    CHECK(next[0].style == SpanStyle::plain);
}
