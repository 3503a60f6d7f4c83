#include "app/draw/kit/format.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <tuple>

// Pointing at numbers.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Points at a corner, the middle and the opposite corner of every grid that supports hover.
void point_everywhere(User& user) {
    const auto grids = user.program.canvas().grids;
    int pointed = 0;
    for (const MatrixGrid& grid : grids) {
        if (!grid.outlined)
            continue;
        const std::tuple<std::int64_t, std::int64_t> cells[] = {
            {0, 0}, {grid.rows / 2, grid.cols / 2}, {grid.rows - 1, grid.cols - 1}};
        for (const auto& [row, col] : cells) {
            const figure::Rect cell = grid.cell(row, col);
            const float x = cell.x + cell.w / 2, y = cell.y + cell.h / 2;
            INFO("stage " << group_info(user.view().group).label << ", " << tensor_info(grid.tensor).name
                          << " row " << row << " column " << col << " at " << x << ", " << y);
            user.driver.move(x, y);
            user.driver.wait(2);
            const CellAddress wanted{grid.tensor, grid.index(row, col)};
            REQUIRE(grid.at(x, y) == wanted);
            CHECK(user.view().hover == wanted);
            // The inspector shows the cell, with its name and its number.
            const std::string address = address_text(user.shown(), wanted);
            CHECK(screen_shows(address));
            CHECK(current_cell(user.shown(), user.view()) == wanted);
            ++pointed;
            user.driver.move(1, 1);
            user.driver.wait(2);
            CHECK_FALSE(user.view().hover);
        }
    }
    CHECK(pointed > 0);
}

} // namespace

TEST_CASE("the cell under the mouse is the cell that is spoken of, in every grid of every stage",
          "[gui][hover]") {
    User user("first-lesson", "", 1900, 1400);
    for (int group = 0; group < group_count; ++group) {
        user.act(GoTo{static_cast<StageGroup>(group)});
        point_everywhere(user);
    }
}

TEST_CASE("pointing finds the same cells at other scales", "[gui][hover]") {
    User user("first-lesson", "", 2400, 1500, 1.5F);
    const auto grids = user.program.canvas().grids;
    REQUIRE_FALSE(grids.empty());
    for (const MatrixGrid& grid : grids) {
        user.driver.move(1, 1); // the inputs of a row follow the mouse
        user.driver.wait(2);
        const figure::Rect cell = grid.cell(grid.rows - 1, grid.cols - 1);
        user.driver.move((cell.x + cell.w / 2) * 1.5F, (cell.y + cell.h / 2) * 1.5F);
        user.driver.wait(2);
        CHECK(user.view().hover == CellAddress{grid.tensor, grid.index(grid.rows - 1, grid.cols - 1)});
    }
}

TEST_CASE("a click keeps a cell, the inspector and the guide show it, Esc lets it go", "[gui][hover]") {
    User user;
    const auto grids = user.program.canvas().grids;
    const auto grid = std::ranges::find(grids, TensorId::weights, &MatrixGrid::tensor);
    REQUIRE(grid != grids.end());
    const figure::Rect cell = grid->cell(1, 3);
    user.driver.click(cell.x + cell.w / 2, cell.y + cell.h / 2);
    const CellAddress wanted{TensorId::weights, {0, 0, 1, 3}};
    REQUIRE(user.view().selected == wanted);
    user.driver.move(1, 1);
    user.driver.wait(2);
    CHECK_FALSE(user.view().hover);
    CHECK(current_cell(user.shown(), user.view()) == wanted);
    CHECK(screen_shows("weights[0][cat, down]"));
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(user.view().selected);
    CHECK_FALSE(screen_shows("weights[0][cat, down]"));
    // A click outside of all items also clears the selection.
    user.driver.click(cell.x + cell.w / 2, cell.y + cell.h / 2);
    REQUIRE(user.view().selected);
    user.driver.click(grid->area.x + 2, grid->area.y - 45);
    CHECK_FALSE(user.view().selected);
}

TEST_CASE("what is selected stays while another cell is pointed at", "[gui][hover]") {
    User user;
    const MatrixGrid grid = user.program.canvas().grids.front();
    const auto middle = [&](std::int64_t row, std::int64_t col) {
        const figure::Rect cell = grid.cell(row, col);
        return std::pair(cell.x + cell.w / 2, cell.y + cell.h / 2);
    };
    user.driver.click(middle(0, 1).first, middle(0, 1).second);
    user.driver.move(middle(2, 2).first, middle(2, 2).second);
    user.driver.wait(2);
    CHECK(user.view().selected == CellAddress{grid.tensor, grid.index(0, 1)});
    CHECK(user.view().hover == CellAddress{grid.tensor, grid.index(2, 2)});
    CHECK(current_cell(user.shown(), user.view()) == user.view().hover);
}

TEST_CASE("a shorter sentence drops addresses that it no longer has", "[gui][hover]") {
    User user;
    const MatrixGrid grid = user.program.canvas().grids.front();
    const figure::Rect cell = grid.cell(3, 3);
    user.driver.click(cell.x + cell.w / 2, cell.y + cell.h / 2);
    REQUIRE(user.view().selected);
    user.type_sentence("A cat");
    CHECK_FALSE(user.view().selected);
    CHECK(user.view().row == -1);
}

TEST_CASE("the number field names the number it holds, whatever is pointed at", "[gui][hover]") {
    User user;
    user.act(GoTo{StageGroup::output});
    const auto grids = user.program.canvas().grids;
    const auto grid = std::ranges::find(grids, TensorId::W_O, &MatrixGrid::tensor);
    REQUIRE(grid != grids.end());
    const auto go = [&](std::int64_t row, std::int64_t col) {
        const figure::Rect cell = grid->cell(row, col);
        user.driver.move(cell.x + cell.w / 2, cell.y + cell.h / 2);
        user.driver.wait(2);
    };
    const auto says = [](const std::string& text) {
        return std::ranges::count_if(
            screen_texts(), [&](const ScreenText& line) { return line.visible && line.text == text; });
    };
    go(5, 1);
    user.driver.press();
    user.driver.release();
    user.driver.wait(2);
    CHECK(says("Selected") == 0);
    CHECK(says("W_O[5, 1]") == 2); // the field's and the text's below it

    // Another one is read: the field says that it holds the first.
    go(2, 2);
    CHECK(says("Selected") == 1);
    CHECK(says("W_O[5, 1]") == 1);
    CHECK(says("W_O[2, 2]") == 1);

    // Typed text goes to the first cell, and during typing everything shows that cell.
    const float other = user.problem().weights.W_O->at(2, 2);
    user.driver.type("7"); // the field has the keyboard one frame later
    user.driver.type(".5");
    user.driver.wait(3);
    CHECK_FALSE(user.view().hover);
    CHECK(says("Selected") == 0);
    CHECK(says("W_O[5, 1]") == 2);
    CHECK(says("W_O[2, 2]") == 0);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.problem().weights.W_O->at(5, 1) == 7.5F);
    CHECK(user.problem().weights.W_O->at(2, 2) == other);
}

TEST_CASE("the number field shows the number of the cell that it names, in every frame", "[gui][hover]") {
    User user;
    user.act(GoTo{StageGroup::output});
    user.act(Select{CellAddress{TensorId::W_O, {5, 1, 0, 0}}});
    user.program.act(Select{CellAddress{TensorId::W_O, {5, 2, 0, 0}}});
    user.driver.wait();
    CHECK(screen_shows("W_O[5, 2]"));
    CHECK(field_text("##number") == shortest_number(user.problem().weights.W_O->at(5, 2)));
}

} // namespace headscope::test
