#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <thread>

// The engine badge: what it lists, switching, and what happens when an engine fails.

namespace headscope::test {

using namespace headscope::app;
namespace {

const EngineState& engines(const User& user) {
    return user.program.state().engines;
}

/// Frames until nothing is under way in the background.
void wait_for_background(User& user) {
    user.driver.wait(2);
    while (engines(user).listing || engines(user).comparing || engines(user).checking) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        user.driver.wait(1);
    }
    user.settle();
}

void open_engines(User& user) {
    REQUIRE(user.click("engine", "Headscope"));
    wait_for_background(user);
    user.driver.wait(2);
}

bool has_vulkan(const User& user) {
    return std::ranges::any_of(engines(user).devices->devices, [](const engine::Device& device) {
        return device.id == "vulkan:0" && device.usable;
    });
}

} // namespace

TEST_CASE("the engine badge lists what there is, and Vulkan is not touched before", "[gui][engine]") {
    User user;
    CHECK_FALSE(engines(user).devices);
    CHECK(user.shown().trace->device == "cpu");
    open_engines(user);
    REQUIRE(engines(user).devices);
    CHECK(screen_shows("Automatic"));
    for (const ScreenItem& item : screen_items())
        if (item.label.starts_with("engine ")) {
            INFO(item.label);
            CHECK(item.reachable());
        }
    REQUIRE(user.click("engine cpu", "##Popup"));
    wait_for_background(user);
    CHECK(engines(user).chosen == "cpu");
    CHECK(user.shown().trace->device == "cpu");
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(screen_shows("Automatic"));
}

TEST_CASE("the engine badge checks the numbers of a checkpoint", "[gui][engine][model]") {
    User user;
    begin_recording();
    open_engines(user);
    CHECK_FALSE(screen_shows("Check the numbers")); // a problem shows its arithmetic
    user.driver.key(GLFW_KEY_ESCAPE);
    user.open(checkpoint::model_folder("pocket"), "Anna went home");
    open_engines(user);
    REQUIRE(user.click("Check the numbers", "##Popup"));
    wait_for_background(user);
    REQUIRE(engines(user).check);
    CHECK(engines(user).check->rows.size() > 10);
    CHECK_FALSE(engines(user).check->failed());
    CHECK(screen_shows("every layer agrees"));
    CHECK(screen_shows("Check again"));
    user.driver.key(GLFW_KEY_ESCAPE);
    end_recording();
}

TEST_CASE("the same sentence shows the same numbers on every engine", "[gui][engine]") {
    User user;
    open_engines(user);
    if (!has_vulkan(user)) {
        WARN("no Vulkan device here: nothing to switch to");
        return;
    }
    const auto first = user.shown().trace;
    REQUIRE(user.click("engine vulkan:0", "##Popup"));
    wait_for_background(user);
    CHECK(engines(user).fallback_reason.empty());
    CHECK(user.shown().trace->device == "vulkan:0");
    CHECK(screen_shows("Vulkan 0"));
    for (const analysis::StageDifference& stage : analysis::stage_differences(*first, *user.shown().trace)) {
        INFO(tensor_info(stage.stage).name);
        CHECK(stage.largest <= 1e-5);
    }
    REQUIRE(user.click("Run this problem on the CPU and on Vulkan", "##Popup"));
    wait_for_background(user);
    user.driver.wait(2);
    REQUIRE(engines(user).comparison);
    CHECK(engines(user).comparison->error.empty());
    CHECK(screen_shows("contributions"));
    user.driver.key(GLFW_KEY_ESCAPE);
    user.type_sentence("The bank by the river");
    CHECK(user.shown().trace->device == "vulkan:0");
    CHECK(user.problem().tokens.size() == 5);
}

TEST_CASE("an engine that cannot be had leaves the CPU and a sentence", "[gui][engine]") {
    User user;
    const auto before = user.program.state().document;
    user.act(EngineAction{EngineAction::Kind::choose, "vulkan:77"});
    CHECK(user.program.state().document == before);
    CHECK(user.shown().trace->device == "cpu");
    CHECK_THAT(engines(user).fallback_reason, Catch::Contains("vulkan:77") && Catch::Contains("cpu"));
    open_engines(user);
    CHECK(screen_shows("Using the CPU instead"));
    user.driver.key(GLFW_KEY_ESCAPE);
    user.type_sentence("The bank by the river");
    CHECK(user.problem().tokens.size() == 5);
    user.act(EngineAction{EngineAction::Kind::choose, "cpu"});
    CHECK(engines(user).fallback_reason.empty());
}

} // namespace headscope::test
