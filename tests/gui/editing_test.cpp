#include "tests/catch.h"
#include "tests/gui/support/screen.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using headscope::test::User;

namespace {

figure::Point place(User& user, const CellAddress& cell) {
    for (const MatrixGrid& grid : user.program.canvas().grids)
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

float W_O(User& user, std::int64_t row, std::int64_t col) {
    return user.problem().weights.W_O->at(row, col);
}

/// On the output page with a number of W_O selected by a click.
struct Editing : User {
    explicit Editing(std::int64_t row = 5, std::int64_t col = 1, float width = 1600, float height = 1000)
        : User("first-lesson", "", width, height) {
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
    Editing user;
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.selected() == W_O_cell(5, 2));
    CHECK(user.view().group == StageGroup::output);
    user.press_key(GLFW_KEY_DOWN);
    user.press_key(GLFW_KEY_UP);
    user.press_key(GLFW_KEY_LEFT);
    CHECK(user.selected() == W_O_cell(5, 1));
    user.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    user.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    user.press_key(GLFW_KEY_DOWN, GLFW_MOD_SHIFT);
    CHECK(user.selected() == W_O_cell(5, 1));
    CHECK(user.view().block_end == W_O_cell(6, 3));
    user.press_key(GLFW_KEY_DELETE);
    CHECK(W_O(user, 5, 1) == 0);
    CHECK(W_O(user, 6, 3) == 0);
    CHECK(W_O(user, 7, 3) != 0);
    CHECK(user.program.state().history.back().label == "zero W_O[5:7, 1:4]");
    user.click_cell(W_O_cell(0, 7));
    user.press_key(GLFW_KEY_TAB);
    CHECK(user.selected() == W_O_cell(1, 0));
    user.press_key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
    CHECK(user.selected() == W_O_cell(0, 7));
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.selected() == W_O_cell(0, 7));
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.view().selected);
    user.press_key(GLFW_KEY_LEFT);
    CHECK(user.view().group == StageGroup::contributions);
}

TEST_CASE("a digit starts typing; Enter takes it and goes down; Tab takes it and goes right") {
    Editing user;
    user.driver.type("-1.25");
    user.settle();
    user.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(user, 5, 1) == -1.25F);
    CHECK(user.selected() == W_O_cell(6, 1));
    CHECK(user.view().head == 0);
    user.driver.type("3");
    user.settle();
    user.press_key(GLFW_KEY_TAB);
    CHECK(W_O(user, 6, 1) == 3);
    CHECK(user.selected() == W_O_cell(6, 2));
    const float before = W_O(user, 6, 2);
    user.driver.type("9");
    user.settle();
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(W_O(user, 6, 2) == before);
    CHECK(user.selected() == W_O_cell(6, 2));
    CHECK(user.program.state().history.size() == 3);
}

TEST_CASE("in a small window a digit opens the inspector in place of the left panel, and is typed there") {
    Editing user(0, 0, 640, 360);
    user.press_key(GLFW_KEY_LEFT_BRACKET);
    user.driver.type("2.5");
    user.settle();
    user.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(user, 0, 0) == 2.5F);
}

TEST_CASE("Tab walks the numbers without writing any of them") {
    Editing user;
    user.driver.type("1.5");
    user.settle();
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.selected() == W_O_cell(6, 1));
    for (int col = 2; col < 5; ++col) {
        user.press_key(GLFW_KEY_TAB);
        CHECK(user.selected() == W_O_cell(6, col));
        CHECK_FALSE(user.program.state().number.active);
    }
    CHECK(user.program.state().history.size() == 2);
}

TEST_CASE("Enter that follows at once takes the number and closes the field") {
    Editing user;
    user.driver.type("1.5");
    user.press_key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(W_O(user, 5, 1) == 1.5F);
    CHECK(user.selected() == W_O_cell(6, 1));
    CHECK_FALSE(user.program.state().number.active);
    CHECK_FALSE(user.program.state().number.take_keyboard);
    user.press_key(GLFW_KEY_ENTER); // nothing was typed
    CHECK(user.program.state().history.size() == 2);
}

TEST_CASE("keys behind Enter in a field are commands again, however fast they come") {
    User user;
    user.act(GoTo{StageGroup::output});
    const auto type = [&](const char* text) {
        REQUIRE(user.driver.click_item("##sentence"));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.type(text);
    };
    type("The dog ran");
    user.driver.keys({GLFW_KEY_ENTER, GLFW_KEY_HOME});
    user.settle();
    CHECK(user.view().group == StageGroup::x);
    CHECK(user.problem().tokens.size() == 3);
    type("The dog ran home");
    user.driver.keys({GLFW_KEY_ENTER, GLFW_KEY_W, GLFW_KEY_RIGHT});
    user.settle();
    CHECK(user.view().group == StageGroup::head_out);
    CHECK(user.problem().tokens.size() == 4);
}

TEST_CASE("Tab that follows at once takes the number too") {
    Editing user;
    user.click_cell(W_O_cell(0, 0));
    user.driver.type("2");
    user.press_key(GLFW_KEY_TAB);
    user.driver.type("3");
    user.press_key(GLFW_KEY_TAB);
    user.settle();
    CHECK(W_O(user, 0, 0) == 2);
    CHECK(W_O(user, 0, 1) == 3);
    CHECK(user.selected() == W_O_cell(0, 2));
}

TEST_CASE("what was typed wrongly is told, stays in the field and can be mended") {
    Editing user;
    const float before = W_O(user, 5, 1);
    for (const char* wrong : {"1e999", "1.2.3", "-"}) {
        user.driver.type(wrong);
        user.settle();
        user.press_key(GLFW_KEY_ENTER);
        CHECK_THAT(user.program.state().error, Catch::Contains(wrong));
        CHECK(W_O(user, 5, 1) == before);
        CHECK(user.selected() == W_O_cell(5, 1));
        CHECK(user.program.state().number.text == wrong);
        user.press_key(GLFW_KEY_ESCAPE);
        user.press_key(GLFW_KEY_ESCAPE);
        user.click_cell(W_O_cell(5, 1));
        CHECK(user.program.state().error.empty());
    }
    CHECK(user.program.state().history.size() == 1);
}

TEST_CASE("the wheel changes the number it is turned over, one turn is one step") {
    Editing user;
    const float before = W_O(user, 5, 1);
    const figure::Point at = place(user, W_O_cell(5, 1));
    user.driver.move(at.x, at.y);
    user.settle();
    for (int notch = 0; notch < 3; ++notch) {
        user.driver.scroll(1);
        user.settle();
    }
    CHECK(W_O(user, 5, 1) == Approx(before + 0.3F).margin(0.006));
    CHECK(user.program.state().history.size() == 2);
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    user.driver.wait(60);
    user.driver.scroll(-1);
    user.settle();
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    CHECK(W_O(user, 5, 1) == Approx(before + 0.29F).margin(0.006));
    CHECK(user.program.state().history.size() == 3);
    const figure::Point other = place(user, W_O_cell(2, 2));
    const float untouched = W_O(user, 2, 2);
    user.driver.move(other.x, other.y);
    user.settle();
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, true); // this zooms where the canvas can zoom
    user.driver.scroll(1);
    user.settle();
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    CHECK(W_O(user, 2, 2) == untouched);
    user.driver.scroll(1);
    user.settle();
    CHECK(W_O(user, 2, 2) == Approx(untouched + 0.1F).margin(0.006));
    CHECK(user.selected() == W_O_cell(2, 2));
}

TEST_CASE("where a page scrolls, the wheel scrolls it over a number that is not selected") {
    Editing user;
    user.driver.resize(900, 420);
    user.settle();
    user.press_key(GLFW_KEY_ESCAPE);
    REQUIRE(user.program.canvas().scrolls);
    const figure::Point at = place(user, W_O_cell(2, 2));
    const float untouched = W_O(user, 2, 2);
    user.driver.move(at.x, at.y);
    user.settle();
    user.driver.scroll(-1);
    user.settle();
    CHECK(W_O(user, 2, 2) == untouched);
}

TEST_CASE("Shift and drag draw a block out with one outline; a plain drag still changes a number") {
    Editing user(1, 1);
    const figure::Point from = place(user, W_O_cell(2, 2)), to = place(user, W_O_cell(4, 5));
    user.press_key(GLFW_KEY_ESCAPE);
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, true);
    user.driver.drag(from.x, from.y, to.x, to.y);
    user.driver.hold(GLFW_KEY_LEFT_SHIFT, false);
    user.settle();
    CHECK(user.selected() == W_O_cell(2, 2));
    CHECK(user.view().block_end == W_O_cell(4, 5));
    CHECK(user.program.state().history.size() == 1);
    CHECK(test::screen_shows("3 × 4"));
}

TEST_CASE("numbers go to a spreadsheet and back") {
    Editing user(0, 0);
    user.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    user.press_key(GLFW_KEY_C, GLFW_MOD_CONTROL);
    const std::string copied = user.driver.clipboard;
    CHECK(std::count(copied.begin(), copied.end(), '\t') == 1);
    CHECK_THAT(user.program.state().notice, Catch::Contains("Copied W_O[0:1, 0:2]"));
    user.driver.clipboard = "1\t2\n3\t4\n";
    user.click_cell(W_O_cell(6, 6));
    user.press_key(GLFW_KEY_V, GLFW_MOD_CONTROL);
    CHECK(W_O(user, 6, 6) == 1);
    CHECK(W_O(user, 7, 7) == 4);
    for (const auto& [text, says] : {std::pair{"", "no text to paste"},
                                     {"1\tx", "column 2"},
                                     {"1\t2\t3", "does not fit"},
                                     {"1\n2\t3", "rectangle"}}) {
        user.driver.clipboard = text;
        user.press_key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        CHECK_THAT(user.program.state().error, Catch::Contains(says));
        CHECK(W_O(user, 6, 6) == 1);
    }
    CHECK(user.program.state().history.size() == 2);
}

TEST_CASE("operations on the selection, with numbers typed in place") {
    Editing user(0, 0);
    user.press_key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    CHECK(test::screen_shows("8 × 8"));
    REQUIRE(user.click("Identity"));
    CHECK(W_O(user, 3, 3) == 1);
    CHECK(W_O(user, 3, 4) == 0);
    REQUIRE(user.click("Set…"));
    REQUIRE(user.click("##set to"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("abc");
    user.press_key(GLFW_KEY_ENTER);
    CHECK_THAT(user.program.state().field.error, Catch::Contains("“abc” is not a number"));
    CHECK(user.program.state().field.text == "abc");
    CHECK(W_O(user, 3, 3) == 1);
    REQUIRE(user.click("##set to"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("0.5");
    user.press_key(GLFW_KEY_ENTER);
    CHECK(W_O(user, 3, 4) == 0.5F);
    REQUIRE(user.click("Randomize…"));
    REQUIRE(user.click("Xavier unif."));
    REQUIRE(user.click("Apply"));
    const float first = W_O(user, 0, 0);
    CHECK(std::abs(first) <= std::sqrt(6.0F / 16));
    REQUIRE(user.click("##seed"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("2");
    user.settle();
    // Leaving the field keeps its number for the button.
    REQUIRE(user.click("Apply"));
    CHECK(W_O(user, 0, 0) != first);
    CHECK(user.program.state().history.back().label == "Xavier uniform, seed 2 W_O[0:8, 0:8]");
    REQUIRE(user.click("Zero"));
    CHECK(W_O(user, 7, 7) == 0);
    for (int back = 0; back < 5; ++back)
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK_FALSE(user.program.state().document->recipe.edits.contains(TensorId::W_O));
}

TEST_CASE("the mask is painted over scores and weights, a stroke is one step") {
    User user;
    user.act(GoTo{StageGroup::weights});
    REQUIRE(user.click("Paint mask: off"));
    const auto cell = [](std::int64_t i, std::int64_t j) {
        return CellAddress{TensorId::weights, {0, 0, i, j}};
    };
    const auto weight = [&](std::int64_t h, std::int64_t i, std::int64_t j) {
        return user.shown().trace->stage(TensorId::weights)->at(0, h, i, j);
    };
    const figure::Point from = place(user, cell(3, 0)), to = place(user, cell(3, 2));
    user.driver.drag(from.x, from.y, to.x, to.y, 1);
    user.settle();
    CHECK(weight(0, 3, 0) == 0);
    CHECK(weight(0, 3, 1) == 0);
    CHECK(weight(0, 3, 2) == 0);
    CHECK(weight(0, 3, 3) == 1);
    CHECK(weight(1, 3, 0) > 0);
    CHECK(user.program.state().history.size() == 2);
    CHECK(test::screen_shows("painted"));
    REQUIRE(user.click("All heads: off"));
    const figure::Point one = place(user, cell(3, 1));
    user.driver.click(one.x, one.y);
    user.settle();
    CHECK(weight(0, 3, 1) == Approx(1 - weight(0, 3, 3)));
    CHECK(user.view().selected == std::nullopt);
    REQUIRE(user.click("Reset mask"));
    user.settle();
    CHECK(weight(0, 3, 0) > 0);
    REQUIRE(user.click("Paint mask: on"));
    user.driver.click(one.x, one.y);
    user.settle();
    CHECK(user.problem().mask.empty());
}

TEST_CASE("a head is switched off by its bar, its name, Shift A and the panel; exact gains are typed") {
    User user;
    user.act(GoTo{StageGroup::output});
    user.press_key(GLFW_KEY_A, GLFW_MOD_SHIFT);
    CHECK(user.problem().gain(0) == 0);
    CHECK(user.view().group == StageGroup::output); // A alone shows arcs
    CHECK(user.program.state().notice == "Head 0 is ablated: head gain 0. Ctrl Z undoes this.");
    CHECK(screen_shows("Head 0 is ablated"));
    user.press_key(GLFW_KEY_A, GLFW_MOD_SHIFT);
    CHECK(user.problem().gain(0) == 1);
    CHECK(user.program.state().notice.empty());
    const auto item = [&](const std::string& begins) {
        for (const test::ScreenItem& it : test::screen_items())
            if (it.label.starts_with(begins) && it.reachable())
                return it.label;
        return std::string();
    };
    REQUIRE(user.click(item("ablate head 1")));
    CHECK(user.problem().gain(1) == 0);
    user.act(ShowTab{LeftTab::edit});
    REQUIRE(user.click("switch head 1"));
    CHECK(user.problem().gain(1) == 1);
    REQUIRE(user.click("##gain 1 value"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("0.333");
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.problem().gain(1) == 0.333F);
    REQUIRE(user.click("##temperature value"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("0");
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.problem().temperature == 1);
    CHECK_THAT(user.program.state().error, Catch::Contains("temperature") && Catch::Contains("0"));
    REQUIRE(user.click("Swap 0 and 1"));
    CHECK(user.problem().gain(0) == 0.333F);
    REQUIRE(user.click("Reset 0"));
    CHECK(user.problem().gain(0) == 1);
}

TEST_CASE("H says what it did to the weights where the user looks, and Escape takes it away") {
    User user;
    user.act(SetHeads{4});
    CHECK(test::screen_shows("now form 4 heads of width 2"));
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(user.program.state().notice.empty());
    user.act(SetHeads{3});
    CHECK_THAT(user.program.state().error, Catch::Contains("does not divide"));
    CHECK(user.problem().dims.H == 4);
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
