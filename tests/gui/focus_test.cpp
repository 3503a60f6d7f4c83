#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

// Everything that the mouse can press is reached by Tab, and the ring around it is seen.

namespace headscope::test {

using namespace headscope::app;
namespace {

using Control = std::pair<std::string, std::string>; ///< window and label

/// Scrolling regions do not count as controls; ↓ and ↑ move through the list of the file chooser.
bool is_control(const ScreenItem& item) {
    const auto is_region = [&](const ScreenItem& other) {
        return other.window.find("/" + item.label + "_") != std::string::npos;
    };
    return !item.label.empty() && !item.label.starts_with("#SCROLL") &&
           item.window.find("/files_") == std::string::npos &&
           std::ranges::none_of(screen_items(), is_region);
}

std::set<Control> controls_on_screen() {
    std::set<Control> all;
    for (const ScreenItem& item : screen_items())
        if (is_control(item) && item.reachable())
            all.insert({item.window, item.label});
    return all;
}

/// Returns true if the ring is around the item or, for a text field, around its frame.
bool surrounds(const figure::Rect& ring, const ScreenItem& item) {
    const auto near = [](float a, float b) { return std::abs(a - b) < 1.5F; };
    const figure::Rect& area = item.area;
    if (item.label.starts_with("##"))
        return area.x >= ring.x - 1 && area.y >= ring.y - 1 && area.right() <= ring.right() + 1 &&
               area.bottom() <= ring.bottom() + 1;
    return near(area.x, ring.x) && near(area.y, ring.y) && near(area.w, ring.w) && near(area.h, ring.h);
}

/// Presses Tab until the ring is back at its start. Fails if the ring is on an item that is not visible.
std::set<Control> controls_visited(User& user) {
    std::set<Control> reached;
    for (int step = 0; step < 600; ++step) {
        user.driver.key(GLFW_KEY_TAB);
        user.driver.wait(3); // the reached item scrolls into view
        const FocusRing* const ring = user.program.focus();
        REQUIRE(ring != nullptr);
        const figure::Rect area = ring->area();
        const auto item =
            std::ranges::find_if(screen_items(), [&](const ScreenItem& one) { return surrounds(area, one); });
        INFO("after " << step + 1 << " times Tab, at " << area.x << ", " << area.y << ", " << area.w << " x "
                      << area.h);
        CHECK(item != screen_items().end());
        if (item == screen_items().end())
            continue;
        INFO(item->window << ": " << item->label);
        CHECK(item->reachable());
        if (!reached.insert({item->window, item->label}).second)
            break;
    }
    return reached;
}

void check_all_reached(User& user) {
    const std::set<Control> wanted = controls_on_screen();
    REQUIRE_FALSE(wanted.empty());
    const std::set<Control> reached = controls_visited(user);
    // The button that leads to a page's task goes when the task is in sight.
    const std::set<Control> left = controls_on_screen();
    for (const Control& one : wanted)
        if (left.contains(one) || one.first.find("task below") == std::string::npos) {
            INFO(one.first << ": " << one.second);
            CHECK(reached.contains(one));
        }
}

} // namespace

TEST_CASE("Tab reaches everything in the window and shows where it is", "[gui][focus]") {
    const auto [width, height] = GENERATE(std::pair(1600.0F, 1000.0F), std::pair(1280.0F, 720.0F));
    User user("first-lesson", "", width, height);
    user.act(OpenLeft{true});
    user.act(OpenInspector{true});
    for (const LeftTab tab :
         {LeftTab::start, LeftTab::course, LeftTab::guide, LeftTab::tensors, LeftTab::heads, LeftTab::edit}) {
        INFO("tab " << static_cast<int>(tab));
        user.act(ShowTab{tab});
        check_all_reached(user);
        user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.wait(2);
    }
    for (const StageGroup stage : {StageGroup::x, StageGroup::split, StageGroup::output}) {
        user.act(GoTo{stage});
        check_all_reached(user);
        user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.wait(2);
    }
}

TEST_CASE("Tab reaches everything of a lesson's page", "[gui][focus]") {
    const bool presented = GENERATE(false, true);
    User user("first-lesson", "", 1280, 720);
    user.act(OpenLesson{"by-hand"});
    if (presented)
        user.act(Present{});
    for (int page = 0; page < user.program.state().course.pages(); ++page) {
        INFO("page " << page);
        user.act(GoToPage{page});
        check_all_reached(user);
        user.act(MoveTabFocus{0});
    }
}

TEST_CASE("Tab reaches everything around a checkpoint", "[gui][focus]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    for (const Screen screen : {Screen::stages, Screen::effects, Screen::atlas}) {
        INFO("screen " << static_cast<int>(screen));
        user.act(ShowScreen{screen});
        check_all_reached(user);
        user.act(MoveTabFocus{0});
    }
}

TEST_CASE("Tab reaches everything in dialogs", "[gui][focus]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit();
    user.save_as(folder.file("one.headscope")); // in a folder where Tab has nothing to complete
    user.edit(1.5F);
    const Action dialogs[] = {ChooseProject{}, ExportPicture{}, RecordFilm{},
                              SaveProjectAs{}, QuitProgram{},   OpenSettings{}};
    int dialog = 0;
    for (const Action& open : dialogs) {
        INFO("dialog " << dialog++);
        user.act(open);
        user.driver.wait(3);
        // From the chooser's field, Tab completes first.
        for (int tries = 0; user.files().chooser && user.program.focus() == nullptr && tries < 4; ++tries) {
            user.driver.key(GLFW_KEY_TAB);
            user.driver.wait(2);
        }
        std::set<Control> wanted;
        for (const Control& one : controls_on_screen())
            if (one.first.find("Headscope") == std::string::npos) // covered items cannot be reached
                wanted.insert(one);
        const std::set<Control> reached = controls_visited(user);
        for (const auto& [window, label] : wanted) {
            INFO(window << ": " << label);
            CHECK(reached.contains({window, label}));
        }
        user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.wait(3);
    }
}

} // namespace headscope::test
