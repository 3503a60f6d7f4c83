#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <fstream>

// The dialog of settings, and that it shows the program's own state.

namespace headscope::test {

using namespace headscope::app;
namespace {

void choose(User& user, const std::string& label) {
    INFO(label);
    REQUIRE(user.click(label, "settings"));
    user.settle();
}

} // namespace

TEST_CASE("each row of the settings sets what its key sets", "[gui][settings]") {
    User user;
    user.driver.key(GLFW_KEY_COMMA, GLFW_MOD_CONTROL);
    user.settle();
    REQUIRE(user.program.state().settings_open);
    choose(user, "Theme dark");
    CHECK(user.view().dark);
    choose(user, "Motion off");
    CHECK_FALSE(user.view().animates());
    choose(user, "Ring changed cells off");
    CHECK_FALSE(user.view().flashes());
    choose(user, "Colors of cells magma");
    CHECK(user.view().colour_map == ColourMap::magma);
    choose(user, "Color scale own for each");
    CHECK_FALSE(user.view().same_scale);
    choose(user, "Numbers in cells off");
    CHECK_FALSE(user.view().numbers);
    choose(user, "Playback speed 2×");
    CHECK(user.view().speed == 2);
    CHECK(screen_shows("of the window and of lessons"));
    choose(user, "Language Deutsch");
    CHECK(user.view().language == "de");
    CHECK(screen_shows("from the next start of the program on"));
    CHECK(screen_shows("Settings")); // still in English
    choose(user, "Language English");
    CHECK(user.view().language == "en");
    choose(user, "Device CPU");
    CHECK(user.program.state().engines.chosen == "cpu");
    choose(user, "Opens with the last file");
    CHECK_FALSE(user.view().start_page);
    choose(user, "Size of everything +");
    CHECK(user.view().zoom == Approx(1.1F));
    choose(user, "Size of everything 110 %");
    CHECK(user.view().zoom == 1);
    // The dialog shows settings that were changed elsewhere.
    user.act(SetDark{false});
    choose(user, "Theme dark");
    CHECK(user.view().dark);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK_FALSE(user.program.state().settings_open);
    CHECK(user.view().dark);
}

TEST_CASE("the settings take the keyboard from what lies behind them", "[gui][settings]") {
    User user;
    user.act(OpenSettings{});
    const StageGroup stage = user.view().group;
    for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_A, GLFW_KEY_G})
        user.driver.key(key);
    user.settle();
    CHECK(user.view().group == stage);
    CHECK(user.view().weights_view == WeightsView::heatmap);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK_FALSE(user.program.state().settings_open);
}

TEST_CASE("the settings fit into small windows and large text", "[gui][settings]") {
    const float scale = GENERATE(1.0F, 2.0F);
    User user("first-lesson", "", 1280, 720, scale);
    user.act(OpenSettings{});
    bool done = false;
    for (const ScreenItem& item : screen_items())
        if (item.label == "Done") {
            done = true;
            CHECK(item.area.bottom() <= 720);
        }
    CHECK(done);
    // Tab reaches rows that do not fit.
    for (int step = 0; step < 60 && !screen_shows("Opens with"); ++step) {
        user.driver.key(GLFW_KEY_TAB);
        user.driver.wait(3);
    }
    CHECK(screen_shows("Opens with"));
}

TEST_CASE("recent files are forgotten, and stay forgotten", "[gui][settings]") {
    TemporaryFolder folder;
    {
        FilesUser user(folder);
        user.edit();
        user.save_as(folder.file("one.headscope"));
        REQUIRE(user.files().recent.size() == 1);
        user.act(OpenSettings{});
        CHECK(screen_shows("1 file listed"));
        choose(user, "Recent files forget");
        CHECK(user.files().recent.empty());
        CHECK(std::filesystem::exists(folder.file("one.headscope")));
    }
    FilesUser again(folder);
    CHECK(again.files().recent.empty());
}

} // namespace headscope::test
