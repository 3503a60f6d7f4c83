#include "app/shell/layout.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>

// Presenting to a class, with the keys that a keyboard and a clicker send.

namespace headscope::test {

using namespace headscope::app;
namespace {

const Presentation& presentation(const User& user) {
    return user.program.state().presentation;
}

bool has_item(const std::string& label) {
    return std::ranges::any_of(screen_items(), [&](const ScreenItem& item) { return item.label == label; });
}

/// Where the canvas is drawn, in logical pixels of the window.
figure::Rect first_grid(const User& user) {
    REQUIRE_FALSE(user.program.canvas().grids.empty());
    return user.program.canvas().grids.front().area;
}

} // namespace

TEST_CASE("F5 shows the canvas alone and larger, and Esc the window as it was", "[gui][presentation]") {
    const bool panels = GENERATE(true, false);
    User user;
    user.act(SetZoom{1.1F});
    user.act(OpenLeft{panels});
    user.act(OpenInspector{!panels});
    const std::string before = signature(user.program);
    REQUIRE(has_item("File"));
    REQUIRE(has_item("scrubber"));
    user.press_key(GLFW_KEY_F5);
    CHECK(presentation(user).on);
    CHECK(user.program.full_screen());
    for (const char* label : {"File", "scrubber", "##sentence", "engine", "help", "fold left", "open Guide",
                              "fold inspector", "open Inspector", "play", "weights"}) {
        INFO(label);
        CHECK_FALSE(has_item(label));
    }
    CHECK(user.program.zoom() == Approx(1000.0F / 600)); // as much larger as the window is
    CHECK(first_grid(user).x < 200);

    // Actions for the window around it only show a message.
    for (const int key : {GLFW_KEY_LEFT_BRACKET, GLFW_KEY_RIGHT_BRACKET})
        user.press_key(key);
    user.press_key(GLFW_KEY_EQUAL, GLFW_MOD_CONTROL);
    CHECK(presentation(user).zoom_factor == Approx(1.1F));
    CHECK(user.program.zoom() == Approx(1.1F * 1000 / 600));
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(presentation(user).on);
    CHECK_FALSE(user.program.full_screen());
    CHECK(signature(user.program) == before);
    CHECK(user.program.zoom() == Approx(1.1F));
    CHECK(has_item("File"));
}

TEST_CASE("maps and matrices use the width of a presentation", "[gui][presentation]") {
    User user("first-lesson", "the cat sat down", 1280, 720);
    user.press_key(GLFW_KEY_F5);
    const float scale = user.program.zoom(), width = 1280 / scale;
    for (const StageGroup stage : {StageGroup::x, StageGroup::qkv, StageGroup::split, StageGroup::scores,
                                   StageGroup::weights, StageGroup::concat, StageGroup::output}) {
        user.act(GoTo{stage});
        float right = 0;
        for (const MatrixGrid& grid : user.program.canvas().grids)
            right = std::max(right, grid.area.right());
        INFO(group_info(stage).label);
        CHECK(right > 0.8F * width);
        CHECK(right <= width);
    }
}

TEST_CASE("the two rows of a presented concat use the height", "[gui][presentation]") {
    const auto [width, height] = GENERATE(std::pair(1600.0F, 1000.0F), std::pair(1280.0F, 720.0F));
    User user("first-lesson", "", width, height);
    user.press_key(GLFW_KEY_F5);
    user.act(GoTo{StageGroup::concat});
    const figure::Rect concat = user.program.canvas().grids.back().area;
    const float whole = height / user.program.zoom();
    CHECK(concat.bottom() <= whole);
    CHECK(whole - concat.bottom() < 0.11F * whole);
}

TEST_CASE("a window that filled the screen does so after presenting", "[gui][presentation]") {
    User user;
    user.press_key(GLFW_KEY_F11);
    user.press_key(GLFW_KEY_F5, GLFW_MOD_SHIFT); // a clicker's other key for it
    CHECK(presentation(user).on);
    user.press_key(GLFW_KEY_F5);
    CHECK_FALSE(presentation(user).on);
    CHECK(user.program.full_screen());
}

TEST_CASE("a clicker goes through the stages, also with a number selected", "[gui][presentation]") {
    User user;
    user.act(GoTo{StageGroup::qkv});
    user.press_key(GLFW_KEY_F5);
    user.act(Select{CellAddress{TensorId::W_Q, {1, 1, 0, 0}}});
    user.press_key(GLFW_KEY_PAGE_DOWN);
    CHECK(user.view().group == StageGroup::split);
    user.press_key(GLFW_KEY_RIGHT);
    CHECK(user.view().group == StageGroup::scores);
    user.press_key(GLFW_KEY_PAGE_UP);
    user.press_key(GLFW_KEY_LEFT);
    CHECK(user.view().group == StageGroup::qkv);
    user.driver.type("5");
    user.settle();
    CHECK_FALSE(user.program.state().number.active);
    CHECK_FALSE(user.program.state().number.take_keyboard);
}

TEST_CASE("a clicker goes through a checkpoint and through weights of a file", "[gui][presentation]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    user.act(GoTo{StageGroup::scores});
    user.press_key(GLFW_KEY_F5);
    const std::int64_t layer = user.view().attention.layer;
    user.press_key(GLFW_KEY_PAGE_DOWN);
    CHECK(user.view().group != StageGroup::scores);
    CHECK(user.view().attention.layer == layer);
    user.press_key(GLFW_KEY_ESCAPE);
    user.open(test_data("/attention/lh_f32.npy"));
    user.press_key(GLFW_KEY_F5);
    user.press_key(GLFW_KEY_PAGE_DOWN);
    CHECK(user.view().head == 1);
    user.press_key(GLFW_KEY_PAGE_UP);
    CHECK(user.view().head == 0);
}

TEST_CASE("the text of a lesson that is presented can be read to its end with a clicker",
          "[gui][presentation]") {
    User user("first-lesson", "", 1280, 720);
    user.act(OpenLesson{"first-lesson"});
    user.act(OpenLeft{false}); // parts that are folded in the window are shown in the presentation
    user.press_key(GLFW_KEY_F5);
    const CourseState& course = user.program.state().course;
    CHECK(screen_shows("11 minutes, intermediate, 7 steps"));
    int presses = 0;
    for (int page = 1; page < course.pages(); ++page) {
        const int before = course.page;
        for (; course.page == before; ++presses) {
            REQUIRE(presses < 200);
            user.press_key(GLFW_KEY_PAGE_DOWN);
        }
        CHECK(course.page == page);
        if (page <= course.steps())
            CHECK(screen_shows("Step " + std::to_string(page) + " of 7"));
    }
    CHECK(presses > course.pages()); // some pages are longer than the window
    user.press_key(GLFW_KEY_PAGE_UP);
    CHECK(course.page >= course.pages() - 2);
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(course.open != nullptr);
    CHECK(user.view().left_open == false);
}

TEST_CASE("the inspector is presented beside a page that speaks of its arithmetic, and only there",
          "[gui][presentation]") {
    User user("first-lesson", "", 1600, 1000);
    user.act(OpenLesson{"first-lesson"});
    user.press_key(GLFW_KEY_F5);
    const CourseState& course = user.program.state().course;
    int with = 0;
    for (int page = 0; page < course.pages(); ++page) {
        user.act(GoToPage{page});
        const bool speaks = screen_shows("The inspector at the right") || screen_shows("The inspector at"),
                   shown = screen_shows("Dot product");
        INFO("page " << page);
        if (speaks)
            CHECK(shown);
        with += shown ? 1 : 0;
        CHECK_FALSE(has_item("fold inspector"));
        CHECK_FALSE(has_item("open Inspector"));
    }
    CHECK(with > 0);
    CHECK(with < course.pages());
}

TEST_CASE("the screen goes dark by one key, and any key of a clicker shows it again", "[gui][presentation]") {
    User user;
    user.press_key(GLFW_KEY_F5);
    const StageGroup stage = user.view().group;
    user.press_key(GLFW_KEY_PERIOD);
    CHECK(presentation(user).blank);
    user.press_key(GLFW_KEY_PERIOD);
    CHECK_FALSE(presentation(user).blank);
    user.press_key(GLFW_KEY_PERIOD);
    user.press_key(GLFW_KEY_PAGE_DOWN);
    CHECK_FALSE(presentation(user).blank);
    CHECK(user.view().group == stage);
}

TEST_CASE("a spot is at the mouse while presenting, and goes away when the mouse rests",
          "[gui][presentation]") {
    const bool motion = GENERATE(true, false);
    User user;
    user.act(SetMotion{motion});
    user.driver.move(400, 300);
    user.driver.wait(3);
    CHECK(presentation(user).spot.strength == 0);
    user.press_key(GLFW_KEY_F5);
    user.driver.move(600, 500); // the spot comes up where the mouse is
    user.driver.wait(60);
    user.driver.move(800, 500);
    const float zoom = user.program.zoom();
    const PointerSpot first = presentation(user).spot;
    if (motion) {
        CHECK(first.at.x > 600 / zoom); // on its way
        CHECK(first.at.x < 800 / zoom - 0.5F);
    } else {
        CHECK(first.at.x == Approx(800 / zoom));
    }
    user.driver.wait(60);
    CHECK(presentation(user).spot.strength == 1);
    CHECK(presentation(user).spot.at.x == Approx(800 / zoom));
    CHECK(presentation(user).spot.at.y == Approx(500 / zoom));
    user.driver.wait(60 * 5);
    CHECK(presentation(user).spot.strength == 0);
    CHECK_FALSE(user.program.animating());
}

TEST_CASE("lists over a presentation are closed before it ends", "[gui][presentation]") {
    User user;
    user.press_key(GLFW_KEY_F5);
    user.press_key(GLFW_KEY_F1); // there is no room for the manual: the list of keys
    CHECK(user.view().help_open);
    CHECK_FALSE(user.program.state().manual.open);
    CHECK(screen_shows("darken the screen, and back"));
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.view().help_open);
    CHECK(presentation(user).on);
    user.press_key(GLFW_KEY_P, GLFW_MOD_CONTROL);
    CHECK(user.program.state().palette.open);
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(presentation(user).on);
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK_FALSE(presentation(user).on);
}

TEST_CASE("a presented page has its room whatever the size of the window's text was", "[gui][presentation]") {
    User user("first-lesson", "", 1280, 720);
    user.act(SetZoom{GENERATE(1.0F, 1.5F, 2.0F)});
    user.act(OpenLesson{"first-lesson"});
    user.act(GoToPage{3});
    user.press_key(GLFW_KEY_F5);
    CHECK(user.program.zoom() == 1); // text, page and inspector stand side by side
    for (const MatrixGrid& grid : user.program.canvas().grids) {
        CHECK(grid.area.x >= presented_lesson_width);
        CHECK(grid.area.right() <= 1280 - presented_inspector_width);
    }
    CHECK(screen_shows("0.86"));
    user.act(GoToPage{2});
    CHECK(user.program.zoom() == Approx(1.2F));
}

TEST_CASE("enlarging a page with its arithmetic leaves the canvas room", "[gui][presentation]") {
    User user("first-lesson", "", 1600, 1000);
    user.act(OpenLesson{"first-lesson"});
    user.act(GoToPage{3});
    user.press_key(GLFW_KEY_F5);
    const auto places = [&] {
        const float zoom = user.program.zoom();
        return compute_layout(user.program.state(), 1600 / zoom, 1000 / zoom);
    };
    REQUIRE(places().inspector_open);
    for (int step = 0; step < 5; ++step) {
        user.press_key(GLFW_KEY_EQUAL, GLFW_MOD_CONTROL);
        INFO(user.program.zoom());
        CHECK(places().canvas.w >= std::min(places().window.w / 2, 400.0F));
    }
    CHECK_FALSE(places().inspector_open);
}

TEST_CASE("the blank end of a presented text needs no key of its own", "[gui][presentation]") {
    User user("first-lesson", "", 1280, 720);
    user.act(OpenLesson{"first-lesson"});
    user.act(GoToPage{3});
    user.press_key(GLFW_KEY_F5);
    const auto below = [] { // the distance by which the text can be scrolled
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
            if (window->Active && std::string(window->Name).find("course first-lesson3") != std::string::npos)
                return window->ScrollMax.y;
        return 0.0F;
    };
    float height = 720;
    for (; below() > 15; height += 10) {
        REQUIRE(height < 1400);
        user.driver.resize(1280, height);
        user.driver.wait(3);
    }
    REQUIRE(below() > 1);
    user.press_key(GLFW_KEY_PAGE_DOWN);
    CHECK(user.program.state().course.page == 4);
}

} // namespace headscope::test
