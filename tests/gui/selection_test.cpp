#include "app/draw/kit/format.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Selection and hover, and which of them the keys and the inspector follow.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Drags a parameter of the norm sideways; the mouse is then over another one.
void drag_norm_weight(User& user, const CellAddress& cell) {
    const figure::Point at = middle_of(user.program.canvas(), cell);
    user.driver.drag(at.x, at.y, at.x + 80, at.y);
    user.settle();
    REQUIRE(user.view().selected == cell);
}

} // namespace

TEST_CASE("after a drag the number that was dragged is looked at, and keys move on from it",
          "[gui][hover][model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    user.act(GoTo{StageGroup::norm1});
    const CellAddress dragged{TensorId::norm1_weight, {4, 0, 0, 0}},
        next{TensorId::norm1_weight, {5, 0, 0, 0}};
    drag_norm_weight(user, dragged);
    CHECK(current_cell(user.shown(), user.view()) == dragged);
    CHECK(screen_shows("outlined: d 4."));
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.view().group == StageGroup::norm1);
    CHECK(current_cell(user.shown(), user.view()) == next);
    CHECK(screen_shows("outlined: d 5."));
    // A hand that trembles does not take the look away; one that moves does.
    const figure::Point at = middle_of(user.program.canvas(), {TensorId::norm1_weight, {9, 0, 0, 0}});
    user.driver.move(at.x, at.y);
    user.driver.wait(2);
    CHECK(screen_shows("outlined: d 9."));
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(screen_shows("outlined: d 6."));
    user.driver.move(at.x + 1, at.y + 1);
    user.driver.wait(2);
    CHECK(screen_shows("outlined: d 6."));
}

TEST_CASE("keys move a selected number where it is on the page, and nowhere else", "[gui][hover][model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "3 1 4 1 5");
    user.act(GoTo{StageGroup::norm1});
    const CellAddress dragged{TensorId::norm1_weight, {4, 0, 0, 0}};
    drag_norm_weight(user, dragged);
    const float weight = user.shown().value(dragged);
    const auto leave_page = [&] { user.act(ShowScreen{Screen::effects}); };
    leave_page();
    user.press_key(GLFW_KEY_DELETE);
    CHECK(user.shown().value(dragged) == weight);
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.view().selected != CellAddress{TensorId::norm1_weight, {5, 0, 0, 0}});
    // A digit puts a head in focus there, and the keys after it are heard.
    user.act(GoTo{StageGroup::norm1});
    drag_norm_weight(user, dragged);
    leave_page();
    user.driver.keys({GLFW_KEY_1});
    user.settle();
    CHECK(user.view().head == 1);
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.view().attention.screen == Screen::stages);
}

TEST_CASE("a number of W_Q is let go of where W_K is looked at", "[gui][hover]") {
    User user;
    user.act(GoTo{StageGroup::qkv});
    user.act(Select{CellAddress{TensorId::W_Q, {1, 1, 0, 0}}});
    user.act(ShowProjection{Projection::k});
    CHECK_FALSE(user.view().selected);
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.view().group == StageGroup::split);
}

} // namespace headscope::test
