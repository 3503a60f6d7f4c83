#include "app/state/screens/flow.h"
#include "app/state/screens/screen.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// The Flow in the window: playing, pointing, clicking, and the tour.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct FlowUser : User {
    explicit FlowUser(float width = 1600, float height = 1000) : User("first-lesson", "", width, height) {
        act(ShowScreen{Screen::flow});
    }
    const FlowView& flow() const { return view().flow; }
    void move_to(const CellAddress& cell) {
        const figure::Point at = middle_of(program.canvas(), cell);
        driver.move(at.x, at.y);
        driver.wait(20);
    }
};

} // namespace

TEST_CASE("Space plays the story of a word to its end, and pauses it", "[gui][flow]") {
    FlowUser user;
    begin_recording();
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::flow);
    CHECK(user.flow().story.duration() == Approx(10.4F));
    user.driver.key(GLFW_KEY_SPACE);
    user.driver.wait(120);
    CHECK(user.view().playing);
    CHECK(user.flow().time > 1.5F);
    CHECK(user.flow().time < 2.5F);
    CHECK(screen_shows("meets each key"));
    user.driver.key(GLFW_KEY_SPACE);
    user.driver.wait(2);
    const float paused = user.flow().time;
    user.driver.wait(30);
    CHECK(user.flow().time == paused);
    user.driver.key(GLFW_KEY_SPACE);
    CHECK(user.driver.wait_until([&] { return !user.view().playing; }, 1200));
    CHECK(user.flow().time == Approx(user.flow().story.duration()));
    CHECK_FALSE(user.program.animating());
}

TEST_CASE("the story waits at the end of a step until its sentence can be read", "[gui][flow]") {
    FlowUser user;
    user.act(WaitForReading{true});
    user.driver.key(GLFW_KEY_SPACE);
    const FlowStory story = user.flow().story;
    // The first step has 1.2 seconds of motion and a sentence that takes longer.
    const float reading = 0.06F * static_cast<float>(user.flow().characters[0]);
    REQUIRE(reading > story.end(FlowStep::query) + 0.5F);
    user.driver.wait(static_cast<int>(60 * (story.end(FlowStep::query) + 0.3F)));
    CHECK(user.flow().story.step_at(user.flow().time) == FlowStep::query);
    user.driver.wait(static_cast<int>(60 * (reading - story.end(FlowStep::query))));
    CHECK(user.flow().story.step_at(user.flow().time) == FlowStep::compare);
}

TEST_CASE("without motion the story goes from picture to picture", "[gui][flow]") {
    FlowUser user;
    user.act(SetMotion{false});
    user.driver.key(GLFW_KEY_SPACE);
    user.driver.wait(4);
    CHECK(user.flow().time == Approx(user.flow().story.end(FlowStep::query)).margin(0.01));
}

TEST_CASE("arrow keys step through the story, and choose the word", "[gui][flow]") {
    FlowUser user;
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.flow().time == Approx(1.2F));
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.flow().time == Approx(4.4F));
    user.press_key(GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    CHECK(user.flow().time == Approx(4.5F));
    user.press_key(GLFW_KEY_LEFT);
    CHECK(user.flow().time == Approx(4.4F));
    const std::int64_t before = flow_word(user.flow(), user.shown().dims().Tq);
    user.press_key(GLFW_KEY_DOWN);
    CHECK(user.flow().word == before + 1);
    CHECK(user.flow().time == 0);
    user.press_key(GLFW_KEY_1);
    CHECK(user.view().head == 1);
}

TEST_CASE("pointing at a number of the Flow lights its path, and the inspector explains it", "[gui][flow]") {
    FlowUser user;
    user.act(OpenInspector{true});
    begin_recording();
    const CellAddress weight{TensorId::weights, {0, 0, 2, 1}};
    const std::size_t items = user.program.canvas().scene.items.size();
    user.move_to(weight);
    CHECK(user.view().hover == weight);
    CHECK(screen_shows("weights[0][sat, cat]"));
    CHECK(user.program.canvas().scene.items.size() > items);
    for (const TensorId id : {TensorId::x, TensorId::output})
        user.move_to({id, {0, 1, 0, 0}});
    CHECK(screen_shows("output[cat, 0]"));
    for (const TensorId id : {TensorId::q_heads, TensorId::k_heads, TensorId::v_heads, TensorId::head_out}) {
        const CellAddress cell{id, {0, 1, 3, 2}};
        user.move_to(cell);
        CHECK(user.view().hover == cell);
    }
}

TEST_CASE("a part of the Flow opens its stage, and Esc returns", "[gui][flow]") {
    FlowUser user;
    begin_recording();
    user.press("keys 0");
    CHECK(user.view().attention.screen == Screen::stages);
    CHECK(user.view().group == StageGroup::qkv);
    CHECK(user.view().projection == Projection::k);
    CHECK(screen_shows("Back to the Flow"));
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(screen_of(user.shown(), user.view()) == Screen::flow);
    user.press("word 1");
    CHECK(user.flow().word == 1);
    user.press("switch head 1");
    CHECK(user.problem().gain(1) == 0);
    user.act(MoveInHistory{-1});
    CHECK(user.problem().gain(1) == 1);
}

TEST_CASE("a number of X and of opened parameters is dragged in the Flow", "[gui][flow]") {
    FlowUser user(1600, 1000);
    user.act(OpenLeft{false});
    const float before = user.shown().value({TensorId::output, {0, 2, 4, 0}});
    const auto drag = [&](const CellAddress& cell) {
        const figure::Point at = middle_of(user.program.canvas(), cell);
        user.driver.drag(at.x, at.y, at.x + 40, at.y);
        user.settle();
    };
    const CellAddress x{TensorId::x, {0, 2, 1, 0}};
    const float number = user.shown().value(x);
    drag(x);
    CHECK(user.shown().value(x) != number);
    CHECK(user.shown().value({TensorId::output, {0, 2, 4, 0}}) != before);
    user.act(Select{});
    user.press("W_Q of head 0");
    const CellAddress parameter{TensorId::W_Q, {1, 0, 0, 0}};
    const float weight = user.shown().value(parameter);
    drag(parameter);
    CHECK(user.shown().value(parameter) != weight);
    user.press("close parameters");
    CHECK_FALSE(user.flow().parameters);
}

TEST_CASE("a new user gets a tour whose steps are checked when they are done", "[gui][flow]") {
    User user;
    user.program.begin();
    user.settle();
    begin_recording();
    user.settle();
    CHECK(screen_of(user.shown(), user.view()) == Screen::flow);
    REQUIRE(user.view().flow.tour.offered);
    CHECK(screen_shows("What is attention?"));
    CHECK(screen_shows("Press play"));
    user.press("switch head 0");
    CHECK(user.view().flow.tour.switched_off);
    CHECK_FALSE(user.view().flow.tour.looked);
    user.type_sentence("The dog sat down");
    CHECK(user.view().flow.tour.changed_word);
    user.act(WaitForReading{false});
    user.driver.key(GLFW_KEY_SPACE);
    CHECK(user.driver.wait_until([&] { return user.view().flow.tour.looked; }, 1200));
    user.settle();
    CHECK(screen_shows("Done: choose how to continue"));
    user.press("skip the tour");
    CHECK_FALSE(user.view().flow.tour.offered);
    CHECK(screen_shows("Watch attention happen"));
}

} // namespace headscope::test
