#include "core/base/assets.h"
#include "core/base/file.h"
#include "core/engine/engine.h"
#include "core/lesson/check.h"
#include "core/lesson/library.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <algorithm>
#include <map>
#include <set>

using namespace headscope;
using namespace headscope::lesson;
using headscope::test::TemporaryFolder;

namespace {

/// Parses and plays one lesson; a line for each fault.
std::vector<std::string> faults_of(const std::string& text, LessonTally* tally = nullptr) {
    const ParsedLesson parsed = parse_lesson(text, "test");
    std::vector<LessonError> faults = parsed.faults;
    const std::vector<LessonError> played = check_lesson(parsed.lesson, *engine::make_engine("cpu"), tally);
    faults.insert(faults.end(), played.begin(), played.end());
    std::vector<std::string> lines;
    for (const LessonError& fault : faults)
        lines.push_back(std::to_string(fault.line) + ": " + fault.sentence);
    return lines;
}

int line_of(const std::string& text, const std::string& words) {
    const auto at = text.find(words);
    REQUIRE(at != std::string::npos);
    return 1 +
           static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// Returns the parts that a translation must have in common: kinds of blocks, expressions and conditions, in
/// their order.
std::vector<std::string> bones(const std::vector<LessonBlock>& blocks) {
    std::vector<std::string> out;
    for (const LessonBlock& block : blocks) {
        out.push_back(std::to_string(block.index()));
        if (const auto* gate = std::get_if<Gate>(&block))
            out.push_back(gate->condition.text());
        if (const auto* formula = std::get_if<FormulaBlock>(&block))
            out.push_back(formula->tex);
        if (const auto* paragraph = std::get_if<Paragraph>(&block))
            for (const Span& span : paragraph->spans)
                if (span.value)
                    out.push_back(span.value->expression.text());
    }
    return out;
}

TEST_CASE("of two lesson files with the same id the later one counts, and the other says so") {
    const TemporaryFolder folder;
    const std::string text = asset("lessons/by-hand.md"), first = folder.file("a.md"),
                      copy = folder.file("b.md");
    write_file_atomically(first, text);
    write_file_atomically(copy, text);
    const auto listed = [](const std::vector<std::string>& folders) {
        std::vector<std::string> paths, hidden;
        for (const FoundLesson& one : find_lessons(folders, "en"))
            if (one.parsed.lesson.id == "by-hand")
                (one.hidden_by.empty() ? paths : hidden).push_back(one.path);
        return std::pair(paths, hidden);
    };
    using Paths = std::vector<std::string>;
    CHECK(listed({first, copy}) == std::pair(Paths{copy}, Paths{"lessons/by-hand.md", first}));
    CHECK(listed({copy, first, first}) == std::pair(Paths{first}, Paths{"lessons/by-hand.md", copy}));
}

} // namespace

TEST_CASE("every lesson inside the program plays without a fault", "[course]") {
    const std::vector<std::string> names = asset_names("lessons/");
    REQUIRE(names.size() == 19 + 19); // nineteen lessons, each in English and in German
    for (const std::string& name : names) {
        CAPTURE(name);
        LessonTally tally;
        CHECK(faults_of(asset(name), &tally) == std::vector<std::string>{});
        CHECK(tally.words < 1300);
        CHECK(tally.values + tally.quoted > 10);
        CHECK(tally.step_questions + tally.tables > 2); // tasks without "Show me"
        CHECK(tally.step_questions + tally.tables + tally.gates >= tally.steps - 1);
        const Lesson lesson = parse_lesson(asset(name), name).lesson;
        CHECK(lesson.steps.size() >= 4);
        CHECK(lesson.steps.size() <= 8);
        CHECK(lesson.quiz.size() >= 4);
        CHECK(lesson.quiz.size() <= 6);
        CHECK(!lesson.summary.empty());
        CHECK(!lesson.objectives.empty());
        CHECK(!lesson.prerequisites.empty());
        CHECK(!lesson.concepts.empty());
        for (const Step& step : lesson.steps) {
            CAPTURE(step.title);
            if (step.scene.screen) // a screen does not have a stage, and marks open items itself
                continue;
            CHECK(step.scene.stage.has_value());
            CHECK(!step.scene.point.empty());
        }
    }
}

TEST_CASE("the course's lessons have numbers of their own and one English text each") {
    std::set<int> numbers;
    std::set<std::string> ids;
    for (const FoundLesson& found : find_lessons({}, "en")) {
        CHECK(found.parsed.lesson.language == "en");
        CHECK(numbers.insert(found.parsed.lesson.number).second);
        CHECK(ids.insert(found.parsed.lesson.id).second);
    }
    CHECK(numbers.size() == 19);
    CHECK(*numbers.begin() == 0);
    CHECK(*numbers.rbegin() == 18);
}

TEST_CASE("a translation has the steps, values, gates and questions of its original") {
    for (const std::string& name : asset_names("lessons/")) {
        const std::string suffix = ".de.md";
        if (!name.ends_with(suffix))
            continue;
        CAPTURE(name);
        const std::string original = name.substr(0, name.size() - suffix.size()) + ".md";
        const Lesson english = parse_lesson(asset(original), "").lesson,
                     german = parse_lesson(asset(name), "").lesson;
        CHECK(german.id == english.id);
        CHECK(german.number == english.number);
        CHECK(german.language == "de");
        REQUIRE(german.steps.size() == english.steps.size());
        for (std::size_t i = 0; i < english.steps.size(); ++i)
            CHECK(bones(german.steps[i].blocks) == bones(english.steps[i].blocks));
        REQUIRE(german.quiz.size() == english.quiz.size());
        for (std::size_t i = 0; i < english.quiz.size(); ++i) {
            CHECK(german.quiz[i].choices.size() == english.quiz[i].choices.size());
            CHECK(std::ranges::find(german.quiz[i].choices, true, &QuizChoice::correct) -
                      german.quiz[i].choices.begin() ==
                  std::ranges::find(english.quiz[i].choices, true, &QuizChoice::correct) -
                      english.quiz[i].choices.begin());
        }
    }
    const auto shown = find_lessons({}, "de");
    CHECK(shown.size() == 19);
    for (const FoundLesson& one : shown) {
        CAPTURE(one.path);
        CHECK(one.parsed.lesson.language == "de");
    }
    // A lesson without a translation is listed in English.
    const TemporaryFolder folder;
    write_file_atomically(folder.file("mine.md"),
                          replaced(asset("lessons/by-hand.md"), "id: by-hand", "id: mine"));
    const auto with_mine = find_lessons({folder.file("mine.md")}, "de");
    CHECK(with_mine.size() == 20);
    CHECK(std::ranges::count_if(with_mine, [](const FoundLesson& one) {
              return one.parsed.lesson.id == "mine" && one.parsed.lesson.language == "en";
          }) == 1);
}

TEST_CASE("the position of a choice does not give the answer away") {
    std::map<std::ptrdiff_t, int> right_at;
    int questions = 0;
    for (const FoundLesson& found : find_lessons({}, "en"))
        for (const Question& question : found.parsed.lesson.quiz) {
            const auto right = std::ranges::find(question.choices, true, &QuizChoice::correct);
            ++right_at[right - question.choices.begin()];
            ++questions;
        }
    for (std::ptrdiff_t position = 0; position < 3; ++position) {
        CAPTURE(position, questions);
        CHECK(right_at[position] * 4 > questions);
        CHECK(right_at[position] * 5 < questions * 2);
    }
}

TEST_CASE("a single lesson file can be named beside folders, and brings no others") {
    const TemporaryFolder folder;
    std::string text = asset("lessons/by-hand.md");
    const std::string id = "id: by-hand";
    REQUIRE(text.find(id) != std::string::npos);
    text.replace(text.find(id), id.size(), "id: my-own");
    write_file_atomically(folder.file("mine.md"), text);
    write_file_atomically(folder.file("readme.md"), "no lesson");
    const auto all = find_lessons({folder.file("mine.md")}, "en");
    CHECK(all.size() == find_lessons({}, "en").size() + 1);
    CHECK(std::ranges::count(all, "my-own", [](const FoundLesson& one) { return one.parsed.lesson.id; }) ==
          1);
}

TEST_CASE("a wrong number, target or gate of a lesson is found, with its line") {
    const std::string good = asset("lessons/by-hand.md");
    struct Broken {
        std::string from, to, words;
    };
    const std::vector<Broken> all{
        {"{{scaled[0][Cat, Cat] = 3.54}}", "{{scaled[0][Cat, Cat] = 3.55}}",
         "the lesson says 3.55 for scaled[0][Cat, Cat], and the engine computes 3.54"},
        {"{{weights[1][Cat, Cat] = 0.50}}", "{{weights[1][Cat, Cat] = 0.00}}",
         "says 0.00 for weights[1][Cat, Cat]"},
        {"{{weights[0][Cat, Cat] = 0.97}}", "{{weights[0][dog, Cat]}}",
         "there is no token \"dog\" in the sentence"},
        {"{{sqrt(dk) = 1.41}}", "{{sqrt(dq)}}", "there is no value \"dq\""},
        {"when: weights[1][Cat, sleeps] > 0.6", "when: weights[1][Cat, sleeps] > 0.4",
         "is open before the learner does anything"},
        {"when: weights[1][Cat, sleeps] > 0.6", "when: weights[1][Cat, sleeps] > 0.9",
         "stays closed after its solution"}};
    for (const Broken& broken : all) {
        CAPTURE(broken.to);
        const std::string text = replaced(good, broken.from, broken.to);
        const std::vector<std::string> faults = faults_of(text);
        REQUIRE(faults.size() == 1);
        CHECK(faults.front().find(broken.words) != std::string::npos);
        if (!broken.to.starts_with("when")) // a gate is named by its first line
            CHECK(faults.front().starts_with(std::to_string(line_of(text, broken.to)) + ":"));
    }
}

TEST_CASE("a step of a few words is told how many a step needs") {
    const std::string lesson = "---\nid: mine\ntitle: Mine\nminutes: 2\ndifficulty: beginner\n"
                               "preset: first-lesson\n---\n\n## One\n```step\nstage: weights\n```\n";
    const auto told = [&](const std::string& words) {
        return std::ranges::count_if(faults_of(lesson + words + "\n"), [](const std::string& fault) {
            return fault.find("the step \"One\" has fewer than 5 words") != std::string::npos;
        });
    };
    CHECK(told("Look at cat.") == 1);
    CHECK(told("Look at the row of cat.") == 0);
}

TEST_CASE("a condition of a text that cannot be computed is found") {
    const std::string good = asset("lessons/by-hand.md");
    const std::string from = "\n## Quiz\n";
    CHECK(faults_of(replaced(good, from, "\n> [!when weights[1][Cat, sleeps] > 0.4] So.\n" + from)).empty());
    const std::vector<std::string> faults =
        faults_of(replaced(good, from, "\n> [!when weights[1][dog, sleeps] > 0.4] So.\n" + from));
    REQUIRE(faults.size() == 1);
    CHECK(faults.front().find("there is no token \"dog\"") != std::string::npos);
}

TEST_CASE("live values are printed as people write numbers") {
    const ParsedLesson parsed = parse_lesson(asset("lessons/by-hand.md"), "");
    const project::Recipe recipe = recipe_of(parsed.lesson.scene);
    const Problem problem = project::build_recipe(recipe).problem;
    const Trace trace = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
    const LessonState state{.problem = problem, .trace = trace};
    const auto printed = [&](const std::string& expression, std::optional<int> decimals = {}) {
        return print_value(
            {.expression = Expression::parse(expression), .decimals = decimals, .quoted = {}, .line = 0},
            state);
    };
    CHECK(printed("D") == "4");
    CHECK(printed("4 * 512 ^ 2") == "1,048,576");
    CHECK(printed("999") == "999");
    CHECK(printed("9999") == "9,999");
    CHECK(printed("12345.678", 1) == "12,345.7");
    CHECK(printed("0 - 12345") == "−12,345");
    CHECK(printed("weights[0][sleeps, Cat]") == "0.50");
    CHECK(printed("scores[0][Cat, Cat]") == "5.00");
    CHECK(printed("0 - 0.001") == "0.00");
    CHECK(printed("ln(0)") == "−∞");
}
