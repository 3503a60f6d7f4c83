#include "tests/catch.h"
#include "tests/gui/support/files_desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <fstream>

// The dialog of settings, and that it shows the program's own state.

namespace headscope::test {

using namespace headscope::app;
namespace {

void choose(Desk& desk, const std::string& label) {
    INFO(label);
    REQUIRE(desk.click(label, "settings"));
    desk.settle();
}

} // namespace

TEST_CASE("each row of the settings sets what its key sets", "[gui][settings]") {
    Desk desk;
    desk.driver.key(GLFW_KEY_COMMA, GLFW_MOD_CONTROL);
    desk.settle();
    REQUIRE(desk.program.state().settings_open);
    choose(desk, "Theme dark");
    CHECK(desk.view().dark);
    choose(desk, "Motion off");
    CHECK_FALSE(desk.view().animates());
    choose(desk, "Ring changed cells off");
    CHECK_FALSE(desk.view().flashes());
    choose(desk, "Colors of cells magma");
    CHECK(desk.view().colour_map == ColourMap::magma);
    choose(desk, "Color scale own for each");
    CHECK_FALSE(desk.view().same_scale);
    choose(desk, "Numbers in cells off");
    CHECK_FALSE(desk.view().numbers);
    choose(desk, "Playback speed 2×");
    CHECK(desk.view().speed == 2);
    CHECK(screen_shows("of the window and of lessons"));
    choose(desk, "Language Deutsch");
    CHECK(desk.view().language == "de");
    CHECK(screen_shows("from the next start of the program on"));
    CHECK(screen_shows("Settings")); // still in English
    choose(desk, "Language English");
    CHECK(desk.view().language == "en");
    choose(desk, "Device CPU");
    CHECK(desk.program.state().engines.chosen == "cpu");
    choose(desk, "Opens with the last file");
    CHECK_FALSE(desk.view().start_page);
    choose(desk, "Size of everything +");
    CHECK(desk.view().zoom == Approx(1.1F));
    choose(desk, "Size of everything 110 %");
    CHECK(desk.view().zoom == 1);
    // The dialog shows settings that were changed elsewhere.
    desk.act(SetDark{false});
    choose(desk, "Theme dark");
    CHECK(desk.view().dark);
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.settle();
    CHECK_FALSE(desk.program.state().settings_open);
    CHECK(desk.view().dark);
}

TEST_CASE("the settings take the keyboard from what lies behind them", "[gui][settings]") {
    Desk desk;
    desk.act(OpenSettings{});
    const StageGroup stage = desk.view().group;
    for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_A, GLFW_KEY_G})
        desk.driver.key(key);
    desk.settle();
    CHECK(desk.view().group == stage);
    CHECK(desk.view().weights_view == WeightsView::heatmap);
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK_FALSE(desk.program.state().settings_open);
}

TEST_CASE("the settings fit into small windows and large text", "[gui][settings]") {
    const float scale = GENERATE(1.0F, 2.0F);
    Desk desk("first-lesson", "", 1280, 720, scale);
    desk.act(OpenSettings{});
    bool done = false;
    for (const ScreenItem& item : screen_items())
        if (item.label == "Done") {
            done = true;
            CHECK(item.area.bottom() <= 720);
        }
    CHECK(done);
    // Tab reaches rows that do not fit.
    for (int step = 0; step < 60 && !screen_shows("Opens with"); ++step) {
        desk.driver.key(GLFW_KEY_TAB);
        desk.driver.wait(3);
    }
    CHECK(screen_shows("Opens with"));
}

TEST_CASE("recent files are forgotten, and stay forgotten", "[gui][settings]") {
    TemporaryFolder folder;
    {
        FilesDesk desk(folder);
        desk.edit();
        desk.save_as(folder.file("one.headscope"));
        REQUIRE(desk.files().recent.size() == 1);
        desk.act(OpenSettings{});
        CHECK(screen_shows("1 file listed"));
        choose(desk, "Recent files forget");
        CHECK(desk.files().recent.empty());
        CHECK(std::filesystem::exists(folder.file("one.headscope")));
    }
    FilesDesk again(folder);
    CHECK(again.files().recent.empty());
}

} // namespace headscope::test
