#include "app/shell/control/control.h"
#include "core/base/file.h"
#include "core/lesson/questions/choice.h"
#include "tests/catch.h"
#include "tests/gui/support/learner.h"
#include "tests/gui/support/screen.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// Questions in the steps of a lesson, answered through the real controls.

namespace headscope::test {

using namespace headscope::app;

namespace {

const std::string lesson_text = R"(---
id: asks
title: Questions
minutes: 1
difficulty: beginner
preset: first-lesson
sentence: The cat sat down
reading:
  - {title: A Book on Attention, by: Author, year: 2020, url: "https://example.org/a", level: beginner, why: It is short.}
---
## A number
```step
stage: scaled
point: "scaled[0]"
```
Five words or more of prose.

```question
id: number
kind: number
question: Which weight does cat get?
answer: weights[0][sat, cat]
mistakes:
  - {answer: 0.25, why: That is a plain average.}
show: {stage: weights}
after: "It is {{weights[0][sat, cat]}} indeed."
```

```claim
says: A row adds up to 1.
source: Vaswani et al. 2017
```

## A cell
```step
stage: weights
point: "weights[0]"
```
Five words or more of prose.

```question
id: cell
kind: cell
question: Which weight of sat is the largest?
among: "weights[0][sat, :]"
answer: largest
after: Cat it is.
```

## Words and an order
```step
stage: weights
point: "weights[0]"
```
Five words or more of prose.

```question
id: word
kind: token
question: Who sat?
answer: cat
```

```question
id: words
kind: token
many: true
question: Which two?
answer: [cat, sat]
```

```question
id: order
kind: order
question: Sort them.
items:
  - {text: width, value: D}
  - {text: heads, value: H}
  - {text: tokens, value: T}
```

## A choice
```step
stage: weights
point: "weights[0]"
```
Five words or more of prose.

```question
id: choice
kind: choice
question: What is true?
choices:
  - {text: This, why: Because A., right: true}
  - {text: That, why: Because B.}
  - {text: Nothing, why: Because C., last: true}
```

```quiz
question: Q
choices:
  - {text: a, why: b, right: true}
  - {text: c, why: d}
  - {text: e, why: f}
```
)";

struct AskedLearner : Learner {
    explicit AskedLearner(const TemporaryFolder& folder, int page, float width = 1600, float height = 1000)
        : Learner(options_of(folder), width, height) {
        act(ShowTab{LeftTab::course});
        act(OpenLesson{"asks"});
        act(GoToPage{page});
    }
    static Program::Options options_of(const TemporaryFolder& folder) {
        write_file_atomically(folder.file("asks.md"), lesson_text);
        Program::Options options;
        options.state_folder = folder.file("state");
        options.lesson_folders = {folder.file("asks.md")};
        return options;
    }
    bool done(const std::string& id) const { return progress().done.contains(id); }
    void type_answer(const std::string& id, const std::string& text, bool enter) {
        const auto item = std::ranges::find(screen_items(), "##" + id + ": answer", &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        driver.click(item->middle_x(), item->middle_y());
        driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        driver.type(text);
        if (enter)
            driver.key(GLFW_KEY_ENTER);
        settle();
    }
    std::string weight_of_cat() const {
        const lesson::CellRange cell =
            lesson::resolve(lesson::parse_target("weights[0][sat, cat]"), problem());
        return std::to_string(lesson::values_of(cell, problem(), computed(problem())).front());
    }
    void click_cell(const Index& at) {
        const figure::Point middle = middle_of(program.canvas(), CellAddress{TensorId::weights, at});
        driver.click(middle.x, middle.y);
        settle();
    }
};

} // namespace

TEST_CASE("a wrong number gets a hint, and the right one opens the result and its scene", "[gui][lesson]") {
    const TemporaryFolder folder;
    {
        AskedLearner learner(folder, 1);
        CHECK(learner.view().group == StageGroup::scaled);
        CHECK(screen_shows("Source: Vaswani et al. 2017"));
        CHECK_FALSE(screen_shows("adds up to 1"));
        CHECK_FALSE(screen_shows("indeed"));
        learner.type_answer("number", "5", true);
        CHECK(screen_shows("too large"));
        CHECK_FALSE(learner.done("number"));
        learner.type_answer("number", "0.25", false);
        learner.press("number: check");
        CHECK(screen_shows("plain average"));
        learner.type_answer("number", "some", false);
        learner.press("number: check");
        CHECK(screen_shows("Type a number"));
        CHECK(learner.course().tries.at("number") == std::vector<std::string>{"5", "0.25"});
        CHECK_FALSE(screen_shows("indeed"));
        // The numbers of the page count, not those of the learner's own problem.
        const std::string weight = learner.weight_of_cat();
        learner.act(SetTemperature{5});
        learner.type_answer("number", weight, true);
        CHECK(learner.done("number"));
        CHECK(screen_shows("Right ✓"));
        CHECK(screen_shows("indeed"));
        CHECK(learner.view().group == StageGroup::weights);
        CHECK_FALSE(learner.progress().given.at("number").shown);
    }
    AskedLearner again(folder, 1);
    CHECK(again.done("number"));
    CHECK(screen_shows("Your answer: "));
    again.act(GoToPage{again.course().pages() - 1});
    CHECK(screen_shows("Further reading"));
    CHECK(screen_shows("A Book on Attention"));
    CHECK(screen_shows("Author 2020, beginner"));
    CHECK(screen_shows("It is short."));
}

TEST_CASE("an answer that is shown is not the learner's own", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 1);
    learner.press("number: show");
    CHECK(learner.done("number"));
    CHECK(learner.progress().given.at("number").shown);
    CHECK(screen_shows("Answer shown"));
    CHECK(screen_shows("The answer: 0."));
    CHECK_FALSE(screen_shows("Right ✓"));
    learner.act(StartLessonAgain{});
    CHECK_FALSE(learner.done("number"));
    CHECK(learner.progress().given.empty());
}

TEST_CASE("a click on the canvas answers, and other cells are ignored", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 2);
    CHECK(screen_shows("Click a cell of weights[0][sat, :]"));
    learner.click_cell({0, 0, 1, 1}); // another row
    CHECK(learner.course().tries.empty());
    learner.click_cell({0, 0, 2, 3});
    CHECK(screen_shows("Not yet. This cell is"));
    CHECK_FALSE(learner.done("cell"));
    learner.click_cell({0, 0, 2, 1});
    CHECK(learner.done("cell"));
    CHECK(screen_shows("Cat it is."));
    CHECK(screen_shows("Your answer: weights[0][sat"));
}

TEST_CASE("words are clicked, one or several, and items in their order", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 3, 1600, 1200);
    learner.press("word: word 0");
    CHECK(screen_shows("Not yet."));
    learner.press("word: word 1");
    CHECK(learner.done("word"));
    learner.press("words: word 1");
    learner.press("words: check");
    CHECK(screen_shows("At least one word is missing."));
    learner.press("words: word 3");
    learner.press("words: word 3"); // a second click takes it back
    learner.press("words: word 2");
    learner.press("words: check");
    CHECK(learner.done("words"));
    learner.press("order: check");
    CHECK(screen_shows("Choose all items"));
    for (const char* item : {"order: item 2", "order: item 1", "order: item 3"})
        learner.press(item);
    learner.press("order: check");
    CHECK(screen_shows("Another one is the largest."));
    learner.press("order: item 2"); // takes it back: the others move up
    learner.press("order: item 2"); // to the end
    learner.press("order: check");
    CHECK(learner.done("order"));
}

TEST_CASE("choices of a step explain themselves one by one, in shuffled order", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 4);
    CHECK_FALSE(screen_shows("Because"));
    learner.press("choice: choice 2");
    CHECK(screen_shows("Because B."));
    CHECK_FALSE(screen_shows("Because A."));
    learner.press("choice: choice 1");
    CHECK(screen_shows("Because A."));
    CHECK(learner.done("choice"));

    learner.open("first-lesson");
    learner.turn_to(8);
    const auto& choices = learner.course().open->quiz.at(0).choices;
    const auto top = [](std::size_t c) {
        const auto item =
            std::ranges::find(screen_items(), "choice " + std::to_string(c), &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        return item->area.y;
    };
    const auto order = lesson::screen_order(lesson::order_seed("first-lesson", "0"), choices);
    for (std::size_t i = 1; i < order.size(); ++i)
        CHECK(top(order[i - 1]) < top(order[i]));
    CHECK_FALSE(std::ranges::is_sorted(order));
}

TEST_CASE("the keyboard alone answers a question", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 1);
    learner.act(MoveTabFocus{0});
    learner.driver.key(GLFW_KEY_TAB); // from the canvas to the task of the page
    learner.driver.wait(3);
    CHECK(learner.program.state().field.label == "number: answer");
    learner.driver.type("0.25");
    learner.driver.key(GLFW_KEY_ENTER);
    learner.settle();
    CHECK(screen_shows("plain average"));
}

TEST_CASE("progress of a version without questions is read", "[gui][lesson]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("state"));
    std::ofstream(folder.file("state/course.json"))
        << R"({"asks": {"furthest": 3, "page": 2, "answers": [[0, 1]], "done": ["cell"]}})";
    const AskedLearner learner(folder, 2);
    CHECK(learner.done("cell"));
    CHECK(learner.progress().answers.at(0) == 1);
    CHECK(screen_shows("Cat it is."));
}

TEST_CASE("a program answers a question by name, and its report tells the tries", "[gui][lesson]") {
    const TemporaryFolder folder;
    AskedLearner learner(folder, 1);
    const auto ask = [&](const std::string& action, const std::string& value = "") {
        nlohmann::json line{{"id", 1}, {"action", action}};
        if (!value.empty())
            line["value"] = value;
        const auto answer = answer_line(learner.program, line.dump(), 1);
        REQUIRE(answer);
        learner.settle();
        return nlohmann::json::parse(*answer);
    };
    const auto question = [&] { return ask("report").at("report").at("lesson").at("questions").at(0); };
    CHECK(ask("report").at("report").at("lesson").at("id") == "asks");
    CHECK(ask("report").at("report").at("lesson").at("page") == 1);
    CHECK_THAT(ask("answer", "number").at("error").get<std::string>(),
               Catch::Contains("write the id, =, and"));
    CHECK_THAT(ask("answer", "number = many").at("error").get<std::string>(),
               Catch::Contains("Type a number"));
    CHECK_THAT(ask("answer", "other = 1").at("error").get<std::string>(),
               Catch::Contains("its questions are number"));
    CHECK(ask("answer", "number = 7").at("ok") == true);
    CHECK(question().at("answered") == false);
    CHECK(question().at("tries") == nlohmann::json{"7"});
    const std::string weight = learner.weight_of_cat();
    CHECK(ask("answer", "number = " + weight).at("ok") == true);
    CHECK(question().at("answered") == true);
    CHECK(question().at("shown") == false);
}

} // namespace headscope::test
