#include "app/draw/kit/format.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Selection and hover, and which of them the keys and the inspector follow.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Drags a parameter of the norm sideways; the mouse is then over another one.
void drag_norm_weight(Desk& desk, const CellAddress& cell) {
    const figure::Point at = middle_of(desk.program.canvas(), cell);
    desk.driver.drag(at.x, at.y, at.x + 80, at.y);
    desk.settle();
    REQUIRE(desk.view().selected == cell);
}

} // namespace

TEST_CASE("after a drag the number that was dragged is looked at, and keys move on from it",
          "[gui][hover][model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    desk.act(GoTo{StageGroup::norm1});
    const CellAddress dragged{TensorId::norm1_weight, {4, 0, 0, 0}},
        next{TensorId::norm1_weight, {5, 0, 0, 0}};
    drag_norm_weight(desk, dragged);
    CHECK(current_cell(desk.shown(), desk.view()) == dragged);
    CHECK(screen_shows("outlined: d 4."));
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.view().group == StageGroup::norm1);
    CHECK(current_cell(desk.shown(), desk.view()) == next);
    CHECK(screen_shows("outlined: d 5."));
    // A hand that trembles does not take the look away; one that moves does.
    const figure::Point at = middle_of(desk.program.canvas(), {TensorId::norm1_weight, {9, 0, 0, 0}});
    desk.driver.move(at.x, at.y);
    desk.driver.wait(2);
    CHECK(screen_shows("outlined: d 9."));
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(screen_shows("outlined: d 6."));
    desk.driver.move(at.x + 1, at.y + 1);
    desk.driver.wait(2);
    CHECK(screen_shows("outlined: d 6."));
}

TEST_CASE("keys move a selected number where it is on the page, and nowhere else", "[gui][hover][model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    desk.act(GoTo{StageGroup::norm1});
    const CellAddress dragged{TensorId::norm1_weight, {4, 0, 0, 0}};
    drag_norm_weight(desk, dragged);
    const float weight = desk.shown().value(dragged);
    const auto leave_page = [&] { desk.act(ShowScreen{Screen::effects}); };
    leave_page();
    desk.press_key(GLFW_KEY_DELETE);
    CHECK(desk.shown().value(dragged) == weight);
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.view().selected != CellAddress{TensorId::norm1_weight, {5, 0, 0, 0}});
    // A digit puts a head in focus there, and the keys after it are heard.
    desk.act(GoTo{StageGroup::norm1});
    drag_norm_weight(desk, dragged);
    leave_page();
    desk.driver.keys({GLFW_KEY_1});
    desk.settle();
    CHECK(desk.view().head == 1);
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.view().attention.screen == Screen::stages);
}

TEST_CASE("a number of W_Q is let go of where W_K is looked at", "[gui][hover]") {
    Desk desk;
    desk.act(GoTo{StageGroup::qkv});
    desk.act(Select{CellAddress{TensorId::W_Q, {1, 1, 0, 0}}});
    desk.act(ShowProjection{Projection::k});
    CHECK_FALSE(desk.view().selected);
    desk.press_key(GLFW_KEY_RIGHT);
    CHECK(desk.view().group == StageGroup::split);
}

} // namespace headscope::test
