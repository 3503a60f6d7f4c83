#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

// Texts that Esc takes out of a field.

namespace {

void type_in(Desk& desk, const std::string& field, const std::string& text) {
    REQUIRE(desk.driver.click_item(field));
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    desk.driver.type(text);
    desk.driver.wait(2);
}

} // namespace

TEST_CASE("Esc leaves the sentence field, and undo brings back what was typed", "[thrown]") {
    Desk desk("first-lesson", "The cat sleeps");
    const auto sentence = [&] { return desk.program.state().document->recipe.sentence; };
    const auto in_field = [&] { return desk.program.state().sentence; };
    type_in(desk, "##sentence", "A dog runs home");
    CHECK(sentence() == "A dog runs home");
    desk.press_key(GLFW_KEY_ESCAPE);
    CHECK(sentence() == "The cat sleeps");
    CHECK(in_field() == "The cat sleeps");
    CHECK_FALSE(desk.program.state().typing);

    SECTION("outside of the field") {
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(sentence() == "A dog runs home");
        CHECK(in_field() == "A dog runs home");
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(sentence() == "The cat sleeps");
    }
    SECTION("in the field, also after something was typed elsewhere") {
        desk.act(ShowTab{LeftTab::edit});
        REQUIRE(desk.driver.click_item("##sentence"));
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "A dog runs home");
        CHECK(sentence() == "A dog runs home");
    }
    end_recording();
}

TEST_CASE("a prompt that never ran is there again after Esc and Ctrl Z", "[thrown][model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), "1 2 3");
    const auto in_field = [&] { return desk.program.state().model.prompt; };
    type_in(desk, "##prompt", "7 8 9 cat");
    desk.settle();
    CHECK_FALSE(desk.program.state().model.error.empty());
    desk.press_key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK(in_field() == "1 2 3");
    CHECK(desk.program.state().model.error.empty());
    CHECK(desk.program.state().document->part()->prompt == "1 2 3");

    SECTION("by the undo that follows") {
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "7 8 9 cat");
        CHECK_FALSE(desk.program.state().model.error.empty());
    }
    SECTION("in the field, when another was used since") {
        desk.act(SetGain{0, 0.5F});
        desk.act(MoveInHistory{-1}); // undoes the head gain, which came later
        CHECK(in_field() == "1 2 3");
        REQUIRE(desk.driver.click_item("##prompt"));
        desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "7 8 9 cat");
    }
    end_recording();
}

TEST_CASE("a second prompt that Esc took away is offered by Ctrl Z in its field", "[thrown][model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), "1 2 3");
    desk.act(ShowScreen{Screen::patching});
    type_in(desk, "##second prompt", "4 5 6");
    desk.press_key(GLFW_KEY_ESCAPE);
    CHECK(desk.program.state().model.patching.corrupted.empty());
    REQUIRE(desk.driver.click_item("##second prompt"));
    desk.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(desk.program.state().field.text == "4 5 6");
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(desk.program.state().model.patching.corrupted == "4 5 6");
    end_recording();
}
