#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

// Texts that Esc takes out of a field.

namespace {

void type_in(User& user, const std::string& field, const std::string& text) {
    REQUIRE(user.driver.click_item(field));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type(text);
    user.driver.wait(2);
}

} // namespace

TEST_CASE("Esc leaves the sentence field, and undo brings back what was typed", "[thrown]") {
    User user("first-lesson", "The cat sleeps");
    const auto sentence = [&] { return user.program.state().document->recipe.sentence; };
    const auto in_field = [&] { return user.program.state().sentence; };
    type_in(user, "##sentence", "A dog runs home");
    CHECK(sentence() == "A dog runs home");
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(sentence() == "The cat sleeps");
    CHECK(in_field() == "The cat sleeps");
    CHECK_FALSE(user.program.state().typing);

    SECTION("outside of the field") {
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(sentence() == "A dog runs home");
        CHECK(in_field() == "A dog runs home");
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(sentence() == "The cat sleeps");
    }
    SECTION("in the field, also after something was typed elsewhere") {
        user.act(ShowTab{LeftTab::edit});
        REQUIRE(user.driver.click_item("##sentence"));
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "A dog runs home");
        CHECK(sentence() == "A dog runs home");
    }
    end_recording();
}

TEST_CASE("a prompt that never ran is there again after Esc and Ctrl Z", "[thrown][model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "1 2 3");
    const auto in_field = [&] { return user.program.state().model.prompt; };
    type_in(user, "##prompt", "7 8 9 cat");
    user.settle();
    CHECK_FALSE(user.program.state().model.error.empty());
    user.press_key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK(in_field() == "1 2 3");
    CHECK(user.program.state().model.error.empty());
    CHECK(user.program.state().document->part()->prompt == "1 2 3");

    SECTION("by the undo that follows") {
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "7 8 9 cat");
        CHECK_FALSE(user.program.state().model.error.empty());
    }
    SECTION("in the field, when another was used since") {
        user.act(SetGain{0, 0.5F});
        user.act(MoveInHistory{-1}); // undoes the head gain, which came later
        CHECK(in_field() == "1 2 3");
        REQUIRE(user.driver.click_item("##prompt"));
        user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        CHECK(in_field() == "7 8 9 cat");
    }
    end_recording();
}

TEST_CASE("a second prompt that Esc took away is offered by Ctrl Z in its field", "[thrown][model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "1 2 3");
    user.act(ShowScreen{Screen::patching});
    type_in(user, "##second prompt", "4 5 6");
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(user.program.state().model.patching.corrupted.empty());
    REQUIRE(user.driver.click_item("##second prompt"));
    user.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(user.program.state().field.text == "4 5 6");
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.program.state().model.patching.corrupted == "4 5 6");
    end_recording();
}
