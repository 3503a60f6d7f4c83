#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/screen.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using headscope::test::Desk;

namespace {

figure::Point place(Desk& desk, const CellAddress& cell) {
    for (const MatrixGrid& grid : desk.program.canvas().grids)
        if (const auto at = grid.tensor == cell.tensor && grid.outlined ? grid.find(cell.at) : std::nullopt) {
            const figure::Rect area = grid.cell(at->first, at->second);
            return {area.x + area.w / 2, area.y + area.h / 2};
        }
    FAIL("the cell is not on the canvas");
    return {};
}

CellAddress W_O_cell(std::int64_t row, std::int64_t col) {
    return {TensorId::W_O, {row, col, 0, 0}};
}

float W_O(Desk& desk, std::int64_t row, std::int64_t col) {
    return desk.problem().weights.W_O->at(row, col);
}

/// On the output page with a number of W_O selected by a click.
struct Editing : Desk {
    explicit Editing(std::int64_t row = 5, std::int64_t col = 1, float width = 1600, float height = 1000)
        : Desk("first-lesson", "", width, height) {
        act(GoTo{StageGroup::output});
        click_cell(W_O_cell(row, col));
    }
    void click_cell(const CellAddress& cell) {
        const figure::Point at = place(*this, cell);
        driver.click(at.x, at.y);
        settle();
    }
    CellAddress selected() { return view().selected.value_or(CellAddress{}); }
};

} // namespace

TEST_CASE("arrows move the selected number, Shift draws a block out, Tab goes on, Escape lets go") {
    Editing desk;
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.selected() == W_O_cell(5, 2));
    CHECK(desk.view().group == StageGroup::output);
    desk.press_key(GLFW_KEY_DOWN);
    desk.press_key(GLFW_KEY_UP);
    desk.press_key(GLFW_KEY_LEFT);
    CHECK(desk.selected() == W_O_cell(5, 1));
    desk.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    desk.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    desk.press_key(GLFW_KEY_DOWN, GLFW_MOD_SHIFT);
    CHECK(desk.selected() == W_O_cell(5, 1));
    CHECK(desk.view().block_end == W_O_cell(6, 3));
    desk.press_key(GLFW_KEY_DELETE);
    CHECK(W_O(desk, 5, 1) == 0);
    CHECK(W_O(desk, 6, 3) == 0);
    CHECK(W_O(desk, 7, 3) != 0);
    CHECK(desk.program.state().history.back().label == "zero W_O[5:7, 1:4]");
    desk.click_cell(W_O_cell(0, 7));
    desk.press_key(GLFW_KEY_TAB);
    CHECK(desk.selected() == W_O_cell(1, 0));
    desk.press_key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
    CHECK(desk.selected() == W_O_cell(0, 7));
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.selected() == W_O_cell(0, 7));
    desk.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(desk.view().selected);
    desk.press_key(GLFW_KEY_LEFT);
    CHECK(desk.view().group == StageGroup::contributions);
}

TEST_CASE("a digit starts typing; Enter takes it and goes down; Tab takes it and goes right") {
    Editing desk;
    desk.driver.type("-1.25");
    desk.settle();
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(desk, 5, 1) == -1.25F);
    CHECK(desk.selected() == W_O_cell(6, 1));
    CHECK(desk.view().head == 0);
    desk.driver.type("3");
    desk.settle();
    desk.press_key(GLFW_KEY_TAB);
    CHECK(W_O(desk, 6, 1) == 3);
    CHECK(desk.selected() == W_O_cell(6, 2));
    const float before = W_O(desk, 6, 2);
    desk.driver.type("9");
    desk.settle();
    desk.press_key(GLFW_KEY_ESCAPE);
    CHECK(W_O(desk, 6, 2) == before);
    CHECK(desk.selected() == W_O_cell(6, 2));
    CHECK(desk.program.state().history.size() == 3);
}

TEST_CASE("in a small window a digit opens the inspector in place of the left panel, and is typed there") {
    Editing desk(0, 0, 640, 360);
    desk.press_key(GLFW_KEY_LEFT_BRACKET);
    desk.driver.type("2.5");
    desk.settle();
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(desk, 0, 0) == 2.5F);
}

TEST_CASE("Tab walks the numbers without writing any of them") {
    Editing desk;
    desk.driver.type("1.5");
    desk.settle();
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(desk.selected() == W_O_cell(6, 1));
    for (int col = 2; col < 5; ++col) {
        desk.press_key(GLFW_KEY_TAB);
        CHECK(desk.selected() == W_O_cell(6, col));
        CHECK_FALSE(desk.program.state().number.active);
    }
    CHECK(desk.program.state().history.size() == 2);
}

TEST_CASE("Enter that follows at once takes the number and closes the field") {
    Editing desk;
    desk.driver.type("1.5");
    desk.press_key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(W_O(desk, 5, 1) == 1.5F);
    CHECK(desk.selected() == W_O_cell(6, 1));
    CHECK_FALSE(desk.program.state().number.active);
    CHECK_FALSE(desk.program.state().number.take_keyboard);
    desk.press_key(GLFW_KEY_ENTER); // nothing was typed
    CHECK(desk.program.state().history.size() == 2);
}

TEST_CASE("keys behind Enter in a field are commands again, however fast they come") {
    Desk desk;
    desk.act(GoTo{StageGroup::output});
    const auto type = [&](const char* text) {
        REQUIRE(desk.driver.click_item("##sentence"));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.type(text);
    };
    type("The dog ran");
    desk.driver.keys({GLFW_KEY_ENTER, GLFW_KEY_HOME});
    desk.settle();
    CHECK(desk.view().group == StageGroup::x);
    CHECK(desk.problem().tokens.size() == 3);
    type("The dog ran home");
    desk.driver.keys({GLFW_KEY_ENTER, GLFW_KEY_W, GLFW_KEY_RIGHT});
    desk.settle();
    CHECK(desk.view().group == StageGroup::head_out);
    CHECK(desk.problem().tokens.size() == 4);
}

TEST_CASE("Tab that follows at once takes the number too") {
    Editing desk;
    desk.click_cell(W_O_cell(0, 0));
    desk.driver.type("2");
    desk.press_key(GLFW_KEY_TAB);
    desk.driver.type("3");
    desk.press_key(GLFW_KEY_TAB);
    desk.settle();
    CHECK(W_O(desk, 0, 0) == 2);
    CHECK(W_O(desk, 0, 1) == 3);
    CHECK(desk.selected() == W_O_cell(0, 2));
}

TEST_CASE("what was typed wrongly is told, stays in the field and can be mended") {
    Editing desk;
    const float before = W_O(desk, 5, 1);
    for (const char* wrong : {"1e999", "1.2.3", "-"}) {
        desk.driver.type(wrong);
        desk.settle();
        desk.press_key(GLFW_KEY_ENTER);
        CHECK_THAT(desk.program.state().error, Catch::Contains(wrong));
        CHECK(W_O(desk, 5, 1) == before);
        CHECK(desk.selected() == W_O_cell(5, 1));
        CHECK(desk.program.state().number.text == wrong);
        desk.press_key(GLFW_KEY_ESCAPE);
        desk.press_key(GLFW_KEY_ESCAPE);
        desk.click_cell(W_O_cell(5, 1));
        CHECK(desk.program.state().error.empty());
    }
    CHECK(desk.program.state().history.size() == 1);
}

TEST_CASE("the wheel changes the number it is turned over, one turn is one step") {
    Editing desk;
    const float before = W_O(desk, 5, 1);
    const figure::Point at = place(desk, W_O_cell(5, 1));
    desk.driver.move(at.x, at.y);
    desk.settle();
    for (int notch = 0; notch < 3; ++notch) {
        desk.driver.scroll(1);
        desk.settle();
    }
    CHECK(W_O(desk, 5, 1) == Approx(before + 0.3F).margin(0.006));
    CHECK(desk.program.state().history.size() == 2);
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    desk.driver.wait(60);
    desk.driver.scroll(-1);
    desk.settle();
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    CHECK(W_O(desk, 5, 1) == Approx(before + 0.29F).margin(0.006));
    CHECK(desk.program.state().history.size() == 3);
    const figure::Point other = place(desk, W_O_cell(2, 2));
    const float untouched = W_O(desk, 2, 2);
    desk.driver.move(other.x, other.y);
    desk.settle();
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, true); // this zooms where the canvas can zoom
    desk.driver.scroll(1);
    desk.settle();
    desk.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    CHECK(W_O(desk, 2, 2) == untouched);
    desk.driver.scroll(1);
    desk.settle();
    CHECK(W_O(desk, 2, 2) == Approx(untouched + 0.1F).margin(0.006));
    CHECK(desk.selected() == W_O_cell(2, 2));
}

TEST_CASE("where a page scrolls, the wheel scrolls it over a number that is not selected") {
    Editing desk;
    desk.driver.resize(900, 420);
    desk.settle();
    desk.press_key(GLFW_KEY_ESCAPE);
    REQUIRE(desk.program.canvas().scrolls);
    const figure::Point at = place(desk, W_O_cell(2, 2));
    const float untouched = W_O(desk, 2, 2);
    desk.driver.move(at.x, at.y);
    desk.settle();
    desk.driver.scroll(-1);
    desk.settle();
    CHECK(W_O(desk, 2, 2) == untouched);
}

TEST_CASE("Shift and drag draw a block out with one outline; a plain drag still changes a number") {
    Editing desk(1, 1);
    const figure::Point from = place(desk, W_O_cell(2, 2)), to = place(desk, W_O_cell(4, 5));
    desk.press_key(GLFW_KEY_ESCAPE);
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    desk.driver.drag(from.x, from.y, to.x, to.y);
    desk.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    desk.settle();
    CHECK(desk.selected() == W_O_cell(2, 2));
    CHECK(desk.view().block_end == W_O_cell(4, 5));
    CHECK(desk.program.state().history.size() == 1);
    CHECK(test::screen_shows("3 × 4"));
}

TEST_CASE("numbers go to a spreadsheet and back") {
    Editing desk(0, 0);
    desk.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    desk.press_key(GLFW_KEY_C, GLFW_MOD_CONTROL);
    const std::string copied = desk.driver.clipboard;
    CHECK(std::count(copied.begin(), copied.end(), '\t') == 1);
    CHECK_THAT(desk.program.state().notice, Catch::Contains("Copied W_O[0:1, 0:2]"));
    desk.driver.clipboard = "1\t2\n3\t4\n";
    desk.click_cell(W_O_cell(6, 6));
    desk.press_key(GLFW_KEY_V, GLFW_MOD_CONTROL);
    CHECK(W_O(desk, 6, 6) == 1);
    CHECK(W_O(desk, 7, 7) == 4);
    for (const auto& [text, says] : {std::pair{"", "no text to paste"},
                                     {"1\tx", "column 2"},
                                     {"1\t2\t3", "does not fit"},
                                     {"1\n2\t3", "rectangle"}}) {
        desk.driver.clipboard = text;
        desk.press_key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        CHECK_THAT(desk.program.state().error, Catch::Contains(says));
        CHECK(W_O(desk, 6, 6) == 1);
    }
    CHECK(desk.program.state().history.size() == 2);
}

TEST_CASE("operations on the selection, with numbers typed in place") {
    Editing desk(0, 0);
    desk.press_key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    CHECK(test::screen_shows("8 × 8"));
    REQUIRE(desk.click("Identity"));
    CHECK(W_O(desk, 3, 3) == 1);
    CHECK(W_O(desk, 3, 4) == 0);
    REQUIRE(desk.click("Set…"));
    REQUIRE(desk.click("##set to"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("abc");
    desk.press_key(GLFW_KEY_ENTER);
    CHECK_THAT(desk.program.state().field.error, Catch::Contains("“abc” is not a number"));
    CHECK(desk.program.state().field.text == "abc");
    CHECK(W_O(desk, 3, 3) == 1);
    REQUIRE(desk.click("##set to"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("0.5");
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(desk, 3, 4) == 0.5F);
    REQUIRE(desk.click("Randomize…"));
    REQUIRE(desk.click("Xavier unif."));
    REQUIRE(desk.click("Apply"));
    const float first = W_O(desk, 0, 0);
    CHECK(std::abs(first) <= std::sqrt(6.0F / 16));
    REQUIRE(desk.click("##seed"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("2");
    desk.settle();
    // Leaving the field keeps its number for the button.
    REQUIRE(desk.click("Apply"));
    CHECK(W_O(desk, 0, 0) != first);
    CHECK(desk.program.state().history.back().label == "Xavier uniform, seed 2 W_O[0:8, 0:8]");
    REQUIRE(desk.click("Zero"));
    CHECK(W_O(desk, 7, 7) == 0);
    for (int back = 0; back < 5; ++back)
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK_FALSE(desk.program.state().document->recipe.edits.contains(TensorId::W_O));
}

TEST_CASE("the mask is painted over scores and weights, a stroke is one step") {
    Desk desk;
    desk.act(GoTo{StageGroup::weights});
    REQUIRE(desk.click("Paint mask: off"));
    const auto cell = [](std::int64_t i, std::int64_t j) {
        return CellAddress{TensorId::weights, {0, 0, i, j}};
    };
    const auto weight = [&](std::int64_t h, std::int64_t i, std::int64_t j) {
        return desk.shown().trace->stage(TensorId::weights)->at(0, h, i, j);
    };
    const figure::Point from = place(desk, cell(3, 0)), to = place(desk, cell(3, 2));
    desk.driver.drag(from.x, from.y, to.x, to.y, 1);
    desk.settle();
    CHECK(weight(0, 3, 0) == 0);
    CHECK(weight(0, 3, 1) == 0);
    CHECK(weight(0, 3, 2) == 0);
    CHECK(weight(0, 3, 3) == 1);
    CHECK(weight(1, 3, 0) > 0);
    CHECK(desk.program.state().history.size() == 2);
    CHECK(test::screen_shows("painted"));
    REQUIRE(desk.click("All heads: off"));
    const figure::Point one = place(desk, cell(3, 1));
    desk.driver.click(one.x, one.y);
    desk.settle();
    CHECK(weight(0, 3, 1) == Approx(1 - weight(0, 3, 3)));
    CHECK(desk.view().selected == std::nullopt);
    REQUIRE(desk.click("Reset mask"));
    desk.settle();
    CHECK(weight(0, 3, 0) > 0);
    REQUIRE(desk.click("Paint mask: on"));
    desk.driver.click(one.x, one.y);
    desk.settle();
    CHECK(desk.problem().mask.empty());
}

TEST_CASE("a head is switched off by its bar, its name, Shift A and the panel; exact gains are typed") {
    Desk desk;
    desk.act(GoTo{StageGroup::output});
    desk.press_key(GLFW_KEY_A, GLFW_MOD_SHIFT);
    CHECK(desk.problem().gain(0) == 0);
    CHECK(desk.view().group == StageGroup::output); // A alone shows arcs
    CHECK(desk.program.state().notice == "Head 0 is ablated: head gain 0. Ctrl Z undoes this.");
    CHECK(screen_shows("Head 0 is ablated"));
    desk.press_key(GLFW_KEY_A, GLFW_MOD_SHIFT);
    CHECK(desk.problem().gain(0) == 1);
    CHECK(desk.program.state().notice.empty());
    const auto item = [&](const std::string& begins) {
        for (const test::ScreenItem& it : test::screen_items())
            if (it.label.starts_with(begins) && it.reachable())
                return it.label;
        return std::string();
    };
    REQUIRE(desk.click(item("ablate head 1")));
    CHECK(desk.problem().gain(1) == 0);
    desk.act(ShowTab{LeftTab::edit});
    REQUIRE(desk.click("switch head 1"));
    CHECK(desk.problem().gain(1) == 1);
    REQUIRE(desk.click("##gain 1 value"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("0.333");
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(desk.problem().gain(1) == 0.333F);
    REQUIRE(desk.click("##temperature value"));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("0");
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(desk.problem().temperature == 1);
    CHECK_THAT(desk.program.state().error, Catch::Contains("temperature") && Catch::Contains("0"));
    REQUIRE(desk.click("Swap 0 and 1"));
    CHECK(desk.problem().gain(0) == 0.333F);
    REQUIRE(desk.click("Reset 0"));
    CHECK(desk.problem().gain(0) == 1);
}

TEST_CASE("H says what it did to the weights where the user looks, and Escape takes it away") {
    Desk desk;
    desk.act(SetHeads{4});
    CHECK(test::screen_shows("now form 4 heads of width 2"));
    desk.press_key(GLFW_KEY_ESCAPE);
    CHECK(desk.program.state().notice.empty());
    desk.act(SetHeads{3});
    CHECK_THAT(desk.program.state().error, Catch::Contains("does not divide"));
    CHECK(desk.problem().dims.H == 4);
}

TEST_CASE("a large matrix is edited in the numbers around the selected cell") {
    project::Recipe recipe;
    Problem problem;
    problem.dims = {1, 64, 64, 512, 512, 8, 8, 64, 64};
    problem.x = std::make_shared<const Tensor>(Shape{1, 64, 512}, 0.1F);
    const auto matrix = std::make_shared<const Tensor>(Shape{512, 512}, 0.01F);
    problem.weights = {matrix, matrix, matrix, matrix, nullptr, nullptr, nullptr, nullptr};
    recipe.base = std::make_shared<const Problem>(problem);
    Program program({.recipe = recipe, .device = "cpu", .wake = {}});
    program.settle();
    program.act(GoTo{StageGroup::output});
    program.act(OpenInspector{true});
    test::Driver driver(program);
    driver.settle();
    program.act(Select{W_O_cell(300, 200)});
    driver.settle();
    // The canvas shows the part of W_O that holds it, in cells that can be read.
    const auto W_O_grid = [&] {
        const auto& grids = program.canvas().grids;
        return std::ranges::find(grids, TensorId::W_O, &MatrixGrid::tensor);
    };
    REQUIRE(W_O_grid() != program.canvas().grids.end());
    CHECK(W_O_grid()->find({300, 200, 0, 0}));
    CHECK(W_O_grid()->area.right() < 1272);
    CHECK(W_O_grid()->pitch_x > 30);
    program.act(Select{W_O_cell(511, 511)});
    driver.settle();
    CHECK(W_O_grid()->find({511, 511, 0, 0}));
    program.act(Select{W_O_cell(303, 200)});
    driver.settle();
    CHECK(W_O_grid()->find({303, 200, 0, 0}));
    const auto before_page = W_O_grid()->origin;
    for (int step = 0; step < 8; ++step) {
        driver.key(GLFW_KEY_DOWN);
        driver.settle();
    }
    CHECK(program.state().view.selected == W_O_cell(311, 200));
    CHECK(W_O_grid()->origin != before_page);
    test::begin_recording();
    driver.wait(2);
    CHECK(test::screen_shows("Numbers around it"));
    float x = 0, y = 0;
    int numbers = 0;
    for (const test::ScreenText& text : test::screen_texts())
        if (text.text == "0.01") {
            ++numbers;
            x = text.x;
            y = text.y;
        }
    test::end_recording();
    CHECK(numbers > 40);
    CHECK(numbers < 200);
    driver.drag(x, y - 4, x + 50, y - 4);
    driver.settle();
    program.settle();
    const auto values = program.state().document->problem.weights.W_O->values();
    CHECK(std::count(values.begin(), values.end(), 0.01F) == 512 * 512 - 1);
}
