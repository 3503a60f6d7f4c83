#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <set>

// Drop-downs, theme, zoom, help.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::vector<std::string> open_list(User& user, const std::string& caption) {
    REQUIRE(user.click(caption, "Headscope"));
    user.driver.wait(3);
    std::vector<std::string> rows;
    for (const ScreenItem& item : screen_items())
        if (item.window.starts_with("##Popup")) {
            INFO(item.label);
            CHECK(item.reachable());
            rows.push_back(item.label);
        }
    return rows;
}

std::string plain(std::string row) {
    for (const std::string mark : {"✓  ", "     "})
        if (row.starts_with(mark))
            row.erase(0, mark.size());
    return row;
}

} // namespace

TEST_CASE("every choice of every drop-down does what it says", "[gui][toolbar]") {
    const std::string preset =
        GENERATE("first-lesson", "cat-sleeps", "eight-experts", "translation", "random");
    User user(preset, "", 1920); // with room for every drop-down
    for (const std::string caption : {"mask", "variant", "H", "preset"}) {
        std::vector<std::string> rows = open_list(user, caption);
        INFO(preset << ": " << caption);
        REQUIRE_FALSE(rows.empty());
        CHECK(std::ranges::count_if(rows, [](const std::string& row) { return row.starts_with("✓"); }) == 1);
        user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.wait(2);
        std::set<std::string> seen;
        for (const std::string& wanted : rows) {
            INFO(wanted);
            const std::vector<std::string> now = open_list(user, caption);
            const auto row = std::ranges::find(now, plain(wanted), plain);
            if (row == now.end()) { // choosing another H changes the variants there are
                user.driver.key(GLFW_KEY_ESCAPE);
                user.driver.wait(2);
                continue;
            }
            const std::uint64_t revision = user.program.state().document->revision;
            REQUIRE(user.click(*row, "##Popup"));
            user.settle();
            CHECK(user.program.state().error.empty());
            // Choosing a checked row changes nothing.
            CHECK(user.program.state().document->revision == revision + (row->starts_with("✓") ? 0 : 1));
            CHECK(user.shown().document == user.program.state().document);
            CHECK(user.shown().trace->dims == user.problem().dims);
            CHECK(ImGui::GetCurrentContext()->OpenPopupStack.Size == 0);
            // It is ticked the next time.
            const std::vector<std::string> after = open_list(user, caption);
            CHECK(std::ranges::count(after, "✓  " + plain(wanted)) == 1);
            user.driver.key(GLFW_KEY_ESCAPE);
            user.driver.wait(2);
            const project::Recipe& recipe = user.program.state().document->recipe;
            seen.insert(recipe.preset + std::to_string(static_cast<int>(recipe.mask)) + " " +
                        std::to_string(user.problem().dims.H) + " " +
                        std::to_string(user.problem().dims.Hkv));
        }
        CHECK(seen.size() == rows.size());
    }
}

TEST_CASE("masks reach the weights that are drawn", "[gui][toolbar]") {
    User user;
    const auto choose = [&](const char* mask) {
        open_list(user, "mask");
        REQUIRE(user.click(std::string("     ") + mask, "##Popup"));
        user.settle();
    };
    const auto forbidden = [&] {
        const Dims& dims = user.problem().dims;
        int count = 0;
        for (std::int64_t i = 0; i < dims.Tq; ++i)
            for (std::int64_t j = 0; j < dims.Tk; ++j)
                count += user.shown().value({TensorId::weights, {0, 0, i, j}}) == 0.0F;
        return count;
    };
    CHECK(forbidden() == 0);
    choose("causal");
    CHECK(forbidden() == 6); // 4 tokens: 3 + 2 + 1 above the diagonal
    choose("causal window 3");
    CHECK(forbidden() == 7);
    choose("neighbors");
    CHECK(forbidden() == 6);
    choose("none");
    CHECK(forbidden() == 0);
}

TEST_CASE("a drop-down is worked with the keyboard alone", "[gui][toolbar]") {
    User user;
    open_list(user, "mask");
    user.driver.key(GLFW_KEY_DOWN);
    user.driver.key(GLFW_KEY_DOWN);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.program.state().document->recipe.mask == project::MaskChoice::causal);
    CHECK(user.view().row == -1);
}

TEST_CASE("theme, zoom and help", "[gui][toolbar]") {
    User user;
    user.driver.key(GLFW_KEY_L);
    CHECK(user.view().dark);
    CHECK(user.program.background() == theme(true).canvas);
    REQUIRE(user.click("theme"));
    CHECK_FALSE(user.view().dark);
    CHECK(user.program.background() == theme(false).canvas);

    for (int step = 1; step <= 12; ++step) {
        user.driver.key(GLFW_KEY_EQUAL, GLFW_MOD_CONTROL);
        CHECK(user.program.zoom() == Approx(std::min(1 + 0.1 * step, 2.0)));
    }
    user.driver.wait(2);
    CHECK(user.driver.surface().scale() == Approx(2));
    CHECK(user.driver.find("Headscope/theme")->w == Approx(64));
    for (int step = 1; step <= 12; ++step)
        user.driver.key(GLFW_KEY_MINUS, GLFW_MOD_CONTROL);
    CHECK(user.program.zoom() == Approx(1));
    user.driver.key(GLFW_KEY_EQUAL, GLFW_MOD_CONTROL);
    user.driver.key(GLFW_KEY_0, GLFW_MOD_CONTROL);
    CHECK(user.program.zoom() == 1);

    CHECK_FALSE(screen_shows("Keyboard"));
    user.driver.key(GLFW_KEY_F1);
    user.driver.wait(2);
    CHECK(user.program.state().manual.open);
    CHECK_FALSE(user.view().help_open);
    user.driver.key(GLFW_KEY_F1);
    user.driver.wait(2);
    CHECK(user.view().help_open);
    CHECK(screen_shows("Keyboard"));
    const StageGroup group = user.view().group;
    user.driver.key(GLFW_KEY_RIGHT);
    CHECK(user.view().group == group);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(2);
    CHECK_FALSE(user.view().help_open);
    CHECK_FALSE(screen_shows("Keyboard"));
    REQUIRE(user.click("help"));
    user.driver.wait(2);
    CHECK(user.view().help_open);
    user.driver.click(800, 500);
    CHECK_FALSE(user.view().help_open);
    CHECK_FALSE(user.program.quitting());
    user.driver.key(GLFW_KEY_Q, GLFW_MOD_CONTROL);
    CHECK(user.program.quitting());
}

} // namespace headscope::test
