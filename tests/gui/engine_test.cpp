#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <thread>

// The engine badge: what it lists, switching, and what happens when an engine fails.

namespace headscope::test {

using namespace headscope::app;
namespace {

const EngineState& engines(const Desk& desk) {
    return desk.program.state().engines;
}

/// Frames until nothing is under way in the background.
void wait_for_background(Desk& desk) {
    desk.driver.wait(2);
    while (engines(desk).listing || engines(desk).comparing || engines(desk).checking) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        desk.driver.wait(1);
    }
    desk.settle();
}

void open_engines(Desk& desk) {
    REQUIRE(desk.click("engine", "Headscope"));
    wait_for_background(desk);
    desk.driver.wait(2);
}

bool has_vulkan(const Desk& desk) {
    return std::ranges::any_of(engines(desk).devices->devices, [](const engine::Device& device) {
        return device.id == "vulkan:0" && device.usable;
    });
}

} // namespace

TEST_CASE("the engine badge lists what there is, and Vulkan is not touched before", "[gui][engine]") {
    Desk desk;
    CHECK_FALSE(engines(desk).devices);
    CHECK(desk.shown().trace->device == "cpu");
    open_engines(desk);
    REQUIRE(engines(desk).devices);
    CHECK(screen_shows("Automatic"));
    for (const ScreenItem& item : screen_items())
        if (item.label.starts_with("engine ")) {
            INFO(item.label);
            CHECK(item.reachable());
        }
    REQUIRE(desk.click("engine cpu", "##Popup"));
    wait_for_background(desk);
    CHECK(engines(desk).chosen == "cpu");
    CHECK(desk.shown().trace->device == "cpu");
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.driver.wait(2);
    CHECK_FALSE(screen_shows("Automatic"));
}

TEST_CASE("the engine badge checks the numbers of a checkpoint", "[gui][engine][model]") {
    Desk desk;
    begin_recording();
    open_engines(desk);
    CHECK_FALSE(screen_shows("Check the numbers")); // a problem shows its arithmetic
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.open(checkpoint::model_folder("pocket"), "Anna went home");
    open_engines(desk);
    REQUIRE(desk.click("Check the numbers", "##Popup"));
    wait_for_background(desk);
    REQUIRE(engines(desk).check);
    CHECK(engines(desk).check->rows.size() > 10);
    CHECK(engines(desk).check->fault() == nullptr);
    CHECK(screen_shows("every layer agrees"));
    CHECK(screen_shows("Check again"));
    desk.driver.key(GLFW_KEY_ESCAPE);
    end_recording();
}

TEST_CASE("the same sentence shows the same numbers on every engine", "[gui][engine]") {
    Desk desk;
    open_engines(desk);
    if (!has_vulkan(desk)) {
        WARN("no Vulkan device here: nothing to switch to");
        return;
    }
    const auto first = desk.shown().trace;
    REQUIRE(desk.click("engine vulkan:0", "##Popup"));
    wait_for_background(desk);
    CHECK(engines(desk).fallback_reason.empty());
    CHECK(desk.shown().trace->device == "vulkan:0");
    CHECK(screen_shows("Vulkan 0"));
    for (const analysis::StageDifference& stage : analysis::stage_differences(*first, *desk.shown().trace)) {
        INFO(tensor_info(stage.stage).name);
        CHECK(stage.largest <= 1e-5);
    }
    REQUIRE(desk.click("Run this problem on the CPU and on Vulkan", "##Popup"));
    wait_for_background(desk);
    desk.driver.wait(2);
    REQUIRE(engines(desk).comparison);
    CHECK(engines(desk).comparison->error.empty());
    CHECK(screen_shows("contributions"));
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.type_sentence("The bank by the river");
    CHECK(desk.shown().trace->device == "vulkan:0");
    CHECK(desk.problem().tokens.size() == 5);
}

TEST_CASE("an engine that cannot be had leaves the CPU and a sentence", "[gui][engine]") {
    Desk desk;
    const auto before = desk.program.state().document;
    desk.act(EngineAction{EngineAction::Kind::choose, "vulkan:77"});
    CHECK(desk.program.state().document == before);
    CHECK(desk.shown().trace->device == "cpu");
    CHECK_THAT(engines(desk).fallback_reason, Catch::Contains("vulkan:77") && Catch::Contains("cpu"));
    open_engines(desk);
    CHECK(screen_shows("Using the CPU instead"));
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.type_sentence("The bank by the river");
    CHECK(desk.problem().tokens.size() == 5);
    desk.act(EngineAction{EngineAction::Kind::choose, "cpu"});
    CHECK(engines(desk).fallback_reason.empty());
}

} // namespace headscope::test
