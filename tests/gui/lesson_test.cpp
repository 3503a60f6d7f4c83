#include "core/project/same_bits.h"
#include "tests/catch.h"
#include "tests/gui/support/learner.h"
#include "tests/temporary_folder.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

// The player of the course, as a learner works it.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a lesson is opened by a click and its pages turned by keys and buttons", "[gui][lesson]") {
    Learner learner;
    learner.open("first-lesson");
    CHECK(learner.course().page == 0);
    CHECK(screen_shows("11 minutes, intermediate, 7 steps"));
    CHECK(screen_shows("Afterwards"));
    learner.press("Begin");
    CHECK(learner.course().page == 1);
    CHECK(screen_shows("Step 1 of 7"));
    CHECK(screen_shows("One head is not enough"));
    CHECK(learner.view().group == StageGroup::weights);
    CHECK(learner.view().selected->at == Index{0, 0, 2, 1});
    REQUIRE(learner.view().points.size() == 2);
    CHECK(learner.view().points[0].tensor == TensorId::weights);

    learner.driver.key(GLFW_KEY_PAGE_DOWN);
    learner.settle();
    CHECK(learner.course().page == 2);
    CHECK(learner.view().group == StageGroup::split);
    CHECK(screen_shows("Step 2 of 7"));
    learner.press("Next step");
    CHECK(learner.course().page == 3);
    CHECK(learner.view().selected.has_value());
    learner.press("Back");
    CHECK(learner.course().page == 2);
    learner.driver.key(GLFW_KEY_PAGE_UP);
    learner.settle();
    CHECK(learner.course().page == 1);
    // Before the first page there is nothing, and after the last there is nothing.
    learner.turn_to(0);
    learner.driver.key(GLFW_KEY_PAGE_UP);
    learner.settle();
    CHECK(learner.course().page == 0);
    learner.turn_to(learner.course().pages() - 1);
    learner.driver.key(GLFW_KEY_PAGE_DOWN);
    learner.settle();
    CHECK(learner.course().page == learner.course().pages() - 1);
    learner.press("Contents");
    CHECK(learner.course().open == nullptr);
    CHECK(learner.view().points.empty());
}

TEST_CASE("every lesson turns to its end without an error, each page with its own problem", "[gui][lesson]") {
    Learner learner({}, 1280, 720);
    for (const auto& lesson : learner.course().lessons) {
        INFO(lesson->id);
        learner.act(OpenLesson{lesson->id});
        for (int page = 0; page < learner.course().pages(); ++page) {
            INFO("page " << page);
            learner.act(GoToPage{page});
            CHECK(learner.program.state().error == "");
            CHECK_FALSE(learner.away());
            CHECK(learner.course().page == page);
        }
    }
}

TEST_CASE("a gate opens when the learner does it through the real controls", "[gui][lesson]") {
    Learner learner;
    learner.open("first-lesson");
    learner.turn_to(2);
    CHECK(screen_shows("Your turn"));
    CHECK_FALSE(screen_shows("Done ✓"));
    learner.press("stage split"); // not what was asked for
    CHECK(learner.progress().done.empty());
    learner.press("stage scores");
    CHECK(learner.progress().done.size() == 1);
    CHECK(screen_shows("Done ✓"));

    learner.turn_to(3);
    CHECK(screen_shows("Question")); // the first task is in sight, so no button points to it
    CHECK_FALSE(screen_shows("Your turn"));
    const auto& grids = learner.program.canvas().grids;
    const auto weights = std::ranges::find(grids, TensorId::weights, &MatrixGrid::tensor); // of head 0
    REQUIRE(weights != grids.end());
    const figure::Rect other = weights->cell(3, 0), wanted = weights->cell(3, 2);
    learner.driver.click(other.x + other.w / 2, other.y + other.h / 2);
    learner.settle();
    CHECK(learner.progress().done.size() == 1);
    learner.driver.click(wanted.x + wanted.w / 2, wanted.y + wanted.h / 2);
    learner.settle();
    CHECK(learner.progress().done.size() == 2);

    learner.turn_to(6);
    CHECK(screen_shows("Question"));
    CHECK_FALSE(screen_shows("Your turn"));
    learner.choose("H", "4 heads");
    CHECK(learner.progress().done.size() == 3);
    CHECK(learner.away());

    learner.open("cross-attention");
    learner.turn_to(2);
    CHECK(screen_shows("Question")); // the gate is below it
    learner.type_kv_sentence("Le chat boit");
    CHECK(learner.progress().done.size() == 1);
}

TEST_CASE("numbers of a page never contradict it after a change", "[gui][lesson]") {
    Learner learner;
    learner.open("first-lesson");
    learner.turn_to(5);
    CHECK(screen_shows("0.34"));
    learner.act(SetGain{1, 0});
    CHECK(screen_shows("was 0.34, now −0.15"));
    CHECK(screen_shows("You have changed the problem"));
    learner.press("Back to the lesson");
    CHECK_FALSE(screen_shows("was 0.34"));
    CHECK(screen_shows("0.34"));
    // Another number of heads: the number of heads is the lesson's, as its sentence says.
    learner.turn_to(6);
    learner.choose("H", "4 heads");
    CHECK(screen_shows("was "));
    // The result of the task is shown.
    learner.turn_to(2);
    learner.press("stage scores");
    learner.driver.move(100, 600);
    learner.driver.scroll(-30);
    learner.driver.wait(20);
    CHECK(screen_shows("slid"));
    learner.turn_to(1); // at its top

    learner.open("one-head");
    learner.turn_to(1);
    learner.choose("H", "2 heads");
    CHECK(screen_shows("was 0.50, now 1.00"));
    learner.turn_to(4);
    CHECK_FALSE(screen_shows("computed from"));
    learner.choose("H", "2 heads");
    CHECK(screen_shows("computed from"));
}

TEST_CASE("show me drives the controls, and one click leads back", "[gui][lesson]") {
    Learner learner;
    learner.open("masks");
    learner.turn_to(1);
    const project::Recipe given = learner.recipe();
    CHECK_FALSE(screen_shows("Take it back"));
    learner.press("Show me");
    CHECK(learner.recipe().mask == project::MaskChoice::causal);
    CHECK(learner.shown().tensor(TensorId::weights)->values()[1] == 0);
    CHECK(learner.progress().done.size() == 1);
    CHECK_FALSE(screen_shows("You have changed the problem")); // the lesson did
    learner.press("Take it back");
    CHECK(project::same_bits(learner.recipe(), given));
    CHECK_FALSE(screen_shows("Take it back"));
    CHECK(learner.progress().done.size() == 1); // completed tasks stay completed
}

TEST_CASE("a table is filled, and only the engine's numbers close it", "[gui][lesson]") {
    Learner learner;
    learner.open("by-hand");
    learner.turn_to(2);
    CHECK(screen_shows("Fill in"));
    const std::vector<std::string> right{"5", "0", "0", "0"};
    learner.fill("scores of head 0", 0, "4");
    for (int cell = 1; cell < 4; ++cell)
        learner.fill("scores of head 0", cell, right[static_cast<std::size_t>(cell)]);
    CHECK(learner.course().typed.at("scores of head 0").size() == 4);
    CHECK(learner.progress().done.empty());
    CHECK_FALSE(screen_shows("All right ✓"));
    learner.fill("scores of head 0", 0, "5");
    CHECK(learner.progress().done.contains("scores of head 0"));
    CHECK(screen_shows("All right ✓"));
}

TEST_CASE("the keyboard alone fills a lesson's table", "[gui][lesson]") {
    Learner learner;
    learner.open("by-hand");
    learner.turn_to(2);
    const std::string table = "scores of head 0";
    const auto revision = learner.program.state().document->revision;
    // Tab opens the field that it comes to.
    for (int step = 0; step < 200 && learner.program.state().field.label != table + " 0"; ++step) {
        learner.driver.key(GLFW_KEY_TAB);
        learner.driver.wait(2);
    }
    for (const char* number : {"4", "0", "1", "2"}) {
        learner.driver.type(number);
        learner.driver.key(GLFW_KEY_TAB);
        learner.driver.wait(3);
    }
    learner.settle();
    const auto& typed = learner.course().typed.at(table);
    REQUIRE(typed.size() == 4);
    CHECK(typed.at(0) == "4");
    CHECK(typed.at(3) == "2");
    CHECK(learner.program.state().field.label.empty()); // Tab left the last cell
    CHECK(learner.program.state().document->revision == revision);
}

TEST_CASE("Tab comes from the canvas to the task of a lesson's page, else to its next page",
          "[gui][lesson]") {
    Learner learner;
    learner.open("by-hand");
    learner.turn_to(2);
    const auto from_canvas = [&] {
        learner.act(MoveTabFocus{0});
        learner.driver.key(GLFW_KEY_TAB);
        learner.driver.wait(3);
    };
    from_canvas();
    CHECK(learner.program.state().field.label == "scores of head 0 0");
    learner.act(GoToPage{0}); // this page does not have a task
    from_canvas();
    learner.driver.key(GLFW_KEY_ENTER);
    learner.settle();
    CHECK(learner.course().page == 1);
}

TEST_CASE("Tab goes through a table whose cells are named, and a mark goes while its answer is corrected",
          "[gui][lesson]") {
    Learner learner;
    learner.open("by-hand");
    learner.turn_to(2);
    const auto shown_below = [](const std::string& label) {
        const auto item = std::ranges::find(screen_items(), label, &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        std::string signs;
        for (const ScreenText& text : screen_texts())
            if (text.visible && (text.text == "✓" || text.text == "×") && text.x > item->area.x &&
                text.x < item->area.right() + 12 && text.y > item->area.bottom() &&
                text.y < item->area.bottom() + 20)
                signs += text.text;
        return signs;
    };
    const auto& table = "scores of head 0";
    const auto label = [&](int n) { return "##" + std::string(table) + " " + std::to_string(n); };
    const auto first = std::ranges::find(screen_items(), label(0), &ScreenItem::label);
    REQUIRE(first != screen_items().end());
    // A name left of the row, one above every column.
    const figure::Rect area = first->area;
    const auto near_text = [&](const auto& where) {
        return std::ranges::any_of(screen_texts(), [&](const ScreenText& text) {
            return text.visible && !text.text.empty() && where(text);
        });
    };
    CHECK(near_text([&](const ScreenText& text) {
        return text.x < area.x && text.x > area.x - 100 && text.y > area.y && text.y < area.bottom();
    }));
    CHECK(near_text([&](const ScreenText& text) {
        return std::abs(text.x - (area.x + area.w / 2)) < 10 && text.y < area.y && text.y > area.y - 14;
    }));
    learner.driver.click(area.x + area.w / 2, area.y + area.h / 2);
    for (const char* number : {"4", "0", "0"}) {
        learner.driver.type(number);
        learner.driver.key(GLFW_KEY_TAB);
        learner.driver.wait(3);
    }
    learner.driver.type("7");
    learner.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
    learner.driver.wait(3);
    learner.settle();
    const auto& typed = learner.course().typed.at(table);
    REQUIRE(typed.size() == 4);
    CHECK(typed.at(0) == "4");
    CHECK(typed.at(2) == "0");
    CHECK(typed.at(3) == "7");
    CHECK(shown_below(label(0)) == "×");
    CHECK(shown_below(label(1)) == "✓");
    CHECK(shown_below(label(3)) == "×");
    // While 4 is made 5, nothing is said of 4 any more.
    learner.driver.click(area.x + area.w / 2, area.y + area.h / 2);
    learner.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    learner.driver.type("5");
    learner.driver.wait(2);
    CHECK(shown_below(label(0)).empty());
    learner.driver.key(GLFW_KEY_ENTER);
    learner.settle();
    CHECK(shown_below(label(0)) == "✓");
}

TEST_CASE("Tab scrolls so far that the mark below a cell is seen", "[gui][lesson]") {
    Learner learner({}, 1280, 720);
    learner.open("by-hand");
    learner.turn_to(2);
    const auto cell = [](int n) {
        const std::string label = "##scores of head 0 " + std::to_string(n);
        const auto item = std::ranges::find(screen_items(), label, &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        return *item;
    };
    REQUIRE(cell(0).reachable());
    learner.driver.click(cell(0).middle_x(), cell(0).middle_y());
    for (const char* number : {"5", "0"}) {
        learner.driver.type(number);
        learner.driver.key(GLFW_KEY_TAB);
        learner.driver.wait(6);
    }
    constexpr float mark = 14;
    CHECK(cell(2).area.bottom() + mark <= cell(2).clip.bottom());
}

TEST_CASE("quiz answers are judged at once, summed up and forgotten on demand", "[gui][lesson]") {
    Learner learner;
    learner.open("cross-attention");
    const int steps = learner.course().steps(), questions = learner.course().questions();
    int right = 0;
    for (int q = 0; q < questions; ++q) {
        learner.turn_to(1 + steps + q);
        CHECK(screen_shows("question " + std::to_string(q + 1) + " of " + std::to_string(questions)));
        CHECK_FALSE(screen_shows("your answer"));
        const auto& choices = learner.course().open->quiz[static_cast<std::size_t>(q)].choices;
        const auto good = std::ranges::find(choices, true, &lesson::QuizChoice::correct) - choices.begin();
        const bool miss = q == 1;
        learner.press("choice " + std::to_string(miss ? (good + 1) % std::ssize(choices) : good));
        right += miss ? 0 : 1;
        CHECK(screen_shows(miss ? "your answer" : "right, your answer"));
        CHECK(learner.progress().answers.at(q) == (miss ? (good + 1) % std::ssize(choices) : good));
        CHECK_FALSE(learner.click("choice 0")); // the first answer counts
    }
    learner.turn_to(1 + steps + questions);
    CHECK(screen_shows(std::to_string(right) + " of " + std::to_string(questions) + " right"));
    learner.press("question 2");
    CHECK(learner.course().question_index() == 1);
    CHECK(screen_shows("your answer"));
    learner.turn_to(1 + steps + questions);
    learner.act(StartLessonAgain{}); // its button is further down
    CHECK(learner.progress().answers.empty());
    CHECK(learner.course().page == 0);
    learner.turn_to(1 + steps);
    CHECK_FALSE(screen_shows("your answer"));
}

TEST_CASE("a learner leaves with a sentence of their own and comes back", "[gui][lesson]") {
    Learner learner;
    learner.open("first-lesson");
    learner.turn_to(4);
    const project::Recipe given = learner.recipe();
    learner.type_sentence("The old man reads the paper");
    CHECK(learner.away());
    CHECK(learner.problem().tokens.size() == 6);
    CHECK(screen_shows("Back to the lesson"));
    CHECK(screen_shows("0.88")); // the number of the lesson, whose words are gone
    CHECK(learner.program.state().error.empty());
    // Looking around is not leaving.
    learner.press("Back to the lesson");
    CHECK(project::same_bits(learner.recipe(), given));
    CHECK_FALSE(learner.away());
    learner.press("stage output");
    CHECK_FALSE(learner.away());
    CHECK_FALSE(screen_shows("Back to the lesson"));
    // Undo brings the own sentence again.
    learner.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    learner.settle();
    CHECK(learner.problem().tokens.size() == 6);
    CHECK(screen_shows("Back to the lesson"));
}

TEST_CASE("lessons of a folder are listed, a broken one with its fault", "[gui][lesson]") {
    TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("lessons"));
    std::ofstream(folder.file("lessons/mine.md")) << R"(---
id: mine
title: A lesson of my own
minutes: 2
difficulty: beginner
preset: translation
---

## Where does cat look?
```step
stage: weights
row: cat
point: weights[0][cat, :]
```
The word **cat** gives chat {{weights[0][cat, chat]}} of its weight, in French.

```quiz
question: What does a row add up to?
choices:
  - {text: one, right: true, why: Softmax divides by the sum.}
  - {text: two, why: That is two rows.}
  - {text: nothing, why: Weights are not negative.}
```
)";
    std::ofstream(folder.file("lessons/broken.md")) << "---\nid: broken\ntitle: [\n---\n\nNo step.\n";
    std::ofstream(folder.file("lessons/empty.md")) << "";
    Program::Options options;
    options.lesson_folders = {folder.file("lessons"), folder.file("nowhere")};
    Learner learner(options, 1600, 1400);
    learner.act(ShowTab{LeftTab::course});
    CHECK(learner.course().unlisted.size() == 2);
    CHECK(std::ranges::any_of(learner.course().unlisted, [](const UnlistedLesson& file) {
        return file.path.ends_with("broken.md") && file.why.starts_with("Line ");
    }));
    CHECK(
        std::ranges::any_of(screen_texts(), [](const ScreenText& line) { return line.text == "broken.md"; }));
    learner.act(OpenLesson{"mine"});
    CHECK(screen_shows(", 1 step"));
    CHECK_FALSE(screen_shows("1 steps"));
    learner.turn_to(1);
    CHECK(screen_shows("Where does cat look?"));

    // The same by a path, as one that is dropped on the window.
    Learner dropped({}, 1600, 1400);
    dropped.program.open_path(folder.file("lessons/broken.md"));
    CHECK(dropped.program.state().error.find("broken.md, line ") != std::string::npos);
    CHECK(dropped.course().open == nullptr);
    dropped.program.open_path(folder.file("lessons/mine.md"));
    REQUIRE(dropped.course().open != nullptr);
    CHECK(dropped.course().open->id == "mine");
    CHECK(dropped.program.state().view.tab == LeftTab::course);
    dropped.turn_to(1);
    CHECK(screen_shows("Where does cat look?"));
    CHECK(learner.problem().cross());
    // An opened copy replaces it, and says so.
    std::filesystem::copy_file(folder.file("lessons/mine.md"), folder.file("copy.md"));
    dropped.program.open_path(folder.file("copy.md"));
    const auto& lessons = dropped.course().lessons;
    CHECK(std::ranges::count(lessons, "mine", [](const auto& one) { return one->id; }) == 1);
    REQUIRE(dropped.course().unlisted.size() == 1);
    CHECK(dropped.course().unlisted[0].path == folder.file("lessons/mine.md"));
    CHECK(dropped.course().unlisted[0].why.starts_with("copy.md has the same id, mine"));
    learner.press("Contents");
    learner.act(OpenLesson{"dance"});
    CHECK(learner.program.state().error.find("there is no lesson \"dance\"; File, Start page, All lessons") !=
          std::string::npos);
    // One with faults says them; once they are mended, it opens.
    learner.act(OpenLesson{"broken"});
    CHECK(learner.program.state().error.find("broken.md, line ") != std::string::npos);
    learner.act(OpenLesson{"empty"});
    CHECK(learner.program.state().error.find("empty.md, line 1: ") != std::string::npos);
    std::filesystem::copy_file(folder.file("lessons/mine.md"), folder.file("lessons/empty.md"),
                               std::filesystem::copy_options::overwrite_existing);
    learner.open("first-lesson");
    CHECK(learner.program.state().error.empty());
}

TEST_CASE("a task below the fold is told of, and a click goes to it", "[gui][lesson]") {
    Learner learner({}, 1280, 720);
    learner.act(ShowTab{LeftTab::course});
    const auto reachable = [](const std::string& label) -> const ScreenItem* {
        const auto found = std::ranges::find_if(
            screen_items(), [&](const ScreenItem& one) { return one.label == label && one.reachable(); });
        return found == screen_items().end() ? nullptr : &*found;
    };
    const auto shows_task = [] {
        return screen_shows("Your turn") || screen_shows("Fill in") || screen_shows("Question");
    };
    int out_of_sight = 0, in_sight = 0;
    for (const auto& lesson : learner.course().lessons) {
        learner.act(OpenLesson{lesson->id});
        for (int page = 1; page <= learner.course().steps(); ++page) {
            INFO(lesson->id << ", step " << page);
            learner.act(GoToPage{page});
            for (int round = 0; round < 2; ++round) { // the page's model, then the values that it gives
                learner.settle();
                learner.driver.wait(6);
            }
            const auto& blocks = learner.course().step()->blocks;
            const bool task = std::ranges::any_of(blocks, [](const lesson::LessonBlock& block) {
                return std::holds_alternative<lesson::Gate>(block) ||
                       std::holds_alternative<lesson::FillTable>(block) ||
                       std::holds_alternative<lesson::StepQuestion>(block);
            });
            CHECK(learner.course().of_open().done.empty()); // a page does not solve its own task
            const ScreenItem* const way = reachable("Your turn");
            if (!task) {
                CHECK(way == nullptr);
                continue;
            }
            if (way == nullptr) {
                ++in_sight;
                CHECK(shows_task());
                continue;
            }
            ++out_of_sight;
            const ScreenItem* const back = reachable("Back");
            REQUIRE(back != nullptr);
            CHECK(way->area.bottom() < back->area.y);
            learner.press("Your turn");
            learner.driver.wait(2);
            CHECK(reachable("Your turn") == nullptr);
            CHECK(shows_task());
        }
    }
    CHECK(out_of_sight > 5);
    CHECK(in_sight > 0);
}

} // namespace headscope::test
