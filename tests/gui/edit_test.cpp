#include "app/shell/program.h"
#include "tests/catch.h"
#include "tests/gui/support/driver.h"

#include <GLFW/glfw3.h>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using headscope::test::Driver;

namespace {

struct DragUser {
    Program program{Program::Options{}};
    Driver driver{program};

    explicit DragUser(StageGroup group) {
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
    DragUser user(StageGroup::output);
    const float before = user.W_O(5, 1);
    const float output = user.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1);
    const figure::Point at = user.place(dragged);
    user.driver.drag(at.x, at.y, at.x + 120, at.y);
    user.settle();
    CHECK(std::abs(user.W_O(5, 1) - (before + 1.2F)) < 0.02F);
    CHECK(user.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1) != output);
    CHECK(user.program.state().history.size() == 2);
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(user.W_O(5, 1) == before);
    CHECK(user.program.state().shown.trace->stage(TensorId::output)->at(0, 2, 1) == output);
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    user.settle();
    CHECK(std::abs(user.W_O(5, 1) - (before + 1.2F)) < 0.02F);
}

TEST_CASE("a computed number cannot be dragged") {
    DragUser user(StageGroup::output);
    const figure::Point at = user.place({TensorId::output, {0, 2, 1, 0}});
    user.driver.drag(at.x, at.y, at.x + 120, at.y);
    user.settle();
    CHECK(user.program.state().history.size() == 1);
}

TEST_CASE("a number is typed in the inspector; what is no number is told and changes nothing") {
    DragUser user(StageGroup::output);
    const figure::Point at = user.place(dragged);
    user.driver.click(at.x, at.y);
    user.settle();
    const float before = user.W_O(5, 1);
    REQUIRE(user.driver.click_item("##number"));
    user.settle();
    user.driver.type("abc");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK_THAT(user.program.state().error, Catch::Contains("abc"));
    CHECK(user.W_O(5, 1) == before);
    REQUIRE(user.driver.click_item("##number"));
    user.settle();
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("2.25");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.W_O(5, 1) == 2.25F);
    CHECK(user.program.state().error.empty());
}

TEST_CASE("a gain is dragged to nothing, and a double click brings it back") {
    DragUser user(StageGroup::output);
    user.program.act(ShowTab{LeftTab::edit});
    user.settle();
    const auto track = user.driver.find("gain 0");
    REQUIRE(track);
    const float y = track->y + track->h / 2;
    user.driver.drag(track->x + track->w / 2, y, track->x - 40, y);
    user.settle();
    CHECK(user.program.state().document->problem.gain(0) == 0);
    const Tensor& contributions = *user.program.state().shown.trace->stage(TensorId::contributions);
    CHECK(contributions.at(0, 0, 2, 1) == 0);
    user.driver.double_click(track->x + track->w / 4, y);
    user.settle();
    CHECK(user.program.state().document->problem.gain(0) == 1);
}

TEST_CASE("a line of the history is clicked") {
    DragUser user(StageGroup::output);
    const float before = user.W_O(5, 1);
    for (const float value : {1.0F, 2.0F, 3.0F}) {
        user.program.act(EditCell{dragged, value});
        user.settle();
    }
    user.program.act(ShowTab{LeftTab::edit});
    user.settle();
    REQUIRE(user.driver.click_item("history 0"));
    user.settle();
    CHECK(user.W_O(5, 1) == before);
    REQUIRE(user.driver.click_item("history 2"));
    user.settle();
    CHECK(user.W_O(5, 1) == 2.0F);
}

TEST_CASE("a drag that is over before a frame was drawn counts, as one step") {
    DragUser user(StageGroup::output);
    const float before = user.W_O(5, 1);
    const figure::Point at = user.place(dragged);
    user.driver.flick(at.x, at.y, at.x + 80, at.y);
    user.settle();
    CHECK(std::abs(user.W_O(5, 1) - (before + 0.8F)) < 0.02F);
    user.driver.drag(at.x, at.y, at.x + 40, at.y);
    user.settle();
    CHECK(user.program.state().history.size() == 3);
}
