#include "app/shell/program.h"
#include "tests/catch.h"
#include "tests/gui/support/driver.h"

#include <GLFW/glfw3.h>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using headscope::test::Driver;

namespace {

struct DragDesk {
    Program program{Program::Options{}};
    Driver driver{program};

    explicit DragDesk(StageGroup group) {
        program.act(GoTo{group});
        settle();
    }
    void settle() {
        driver.settle();
        program.settle();
        driver.settle();
    }
    /// The middle of a cell of the canvas, in pixels.
    figure::Point place(const CellAddress& cell) {
        for (const MatrixGrid& grid : program.canvas().grids)
            if (const auto at = grid.tensor == cell.tensor ? grid.find(cell.at) : std::nullopt) {
                const figure::Rect area = grid.cell(at->first, at->second);
                return {area.x + area.w / 2, area.y + area.h / 2};
            }
        FAIL("the cell is not on the canvas");
        return {};
    }
    float W_O(std::int64_t row, std::int64_t col) {
        return program.state().document->problem.weights.W_O->at(row, col);
    }
};

const CellAddress dragged{TensorId::W_O, {5, 1, 0, 0}};

} // namespace

TEST_CASE("dragging a number of W_O sideways moves the output, and one undo takes it back") {
    DragDesk desk(StageGroup::output);
    const float before = desk.W_O(5, 1);
    const float output = desk.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1);
    const figure::Point at = desk.place(dragged);
    desk.driver.drag(at.x, at.y, at.x + 120, at.y);
    desk.settle();
    CHECK(std::abs(desk.W_O(5, 1) - (before + 1.2F)) < 0.02F);
    CHECK(desk.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1) != output);
    CHECK(desk.program.state().history.size() == 2);
    desk.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(desk.W_O(5, 1) == before);
    CHECK(desk.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1) == output);
    desk.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    desk.settle();
    CHECK(std::abs(desk.W_O(5, 1) - (before + 1.2F)) < 0.02F);
}

TEST_CASE("a computed number cannot be dragged") {
    DragDesk desk(StageGroup::output);
    const figure::Point at = desk.place({TensorId::output, {0, 2, 1, 0}});
    desk.driver.drag(at.x, at.y, at.x + 120, at.y);
    desk.settle();
    CHECK(desk.program.state().history.size() == 1);
}

TEST_CASE("a number is typed in the inspector; what is no number is told and changes nothing") {
    DragDesk desk(StageGroup::output);
    const figure::Point at = desk.place(dragged);
    desk.driver.click(at.x, at.y);
    desk.settle();
    const float before = desk.W_O(5, 1);
    REQUIRE(desk.driver.click_item("##number"));
    desk.settle();
    desk.driver.type("abc");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK_THAT(desk.program.state().error, Catch::Contains("abc"));
    CHECK(desk.W_O(5, 1) == before);
    REQUIRE(desk.driver.click_item("##number"));
    desk.settle();
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type("2.25");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(desk.W_O(5, 1) == 2.25F);
    CHECK(desk.program.state().error.empty());
}

TEST_CASE("a gain is dragged to nothing, and a double click brings it back") {
    DragDesk desk(StageGroup::output);
    desk.program.act(ShowTab{LeftTab::edit});
    desk.settle();
    const auto track = desk.driver.find("gain 0");
    REQUIRE(track);
    const float y = track->y + track->h / 2;
    desk.driver.drag(track->x + track->w / 2, y, track->x - 40, y);
    desk.settle();
    CHECK(desk.program.state().document->problem.gain(0) == 0);
    const Tensor& contributions = *desk.program.state().shown.trace->stage(TensorId::contributions);
    CHECK(contributions.at(0, 0, 2, 1) == 0);
    desk.driver.double_click(track->x + track->w / 4, y);
    desk.settle();
    CHECK(desk.program.state().document->problem.gain(0) == 1);
}

TEST_CASE("a line of the history is clicked") {
    DragDesk desk(StageGroup::output);
    const float before = desk.W_O(5, 1);
    for (const float value : {1.0F, 2.0F, 3.0F}) {
        desk.program.act(EditCell{dragged, value});
        desk.settle();
    }
    desk.program.act(ShowTab{LeftTab::edit});
    desk.settle();
    REQUIRE(desk.driver.click_item("history 0"));
    desk.settle();
    CHECK(desk.W_O(5, 1) == before);
    REQUIRE(desk.driver.click_item("history 2"));
    desk.settle();
    CHECK(desk.W_O(5, 1) == 2.0F);
}

TEST_CASE("a drag that is over before a frame was drawn counts, as one step") {
    DragDesk desk(StageGroup::output);
    const float before = desk.W_O(5, 1);
    const figure::Point at = desk.place(dragged);
    desk.driver.flick(at.x, at.y, at.x + 80, at.y);
    desk.settle();
    CHECK(std::abs(desk.W_O(5, 1) - (before + 0.8F)) < 0.02F);
    desk.driver.drag(at.x, at.y, at.x + 40, at.y);
    desk.settle();
    CHECK(desk.program.state().history.size() == 3);
}
