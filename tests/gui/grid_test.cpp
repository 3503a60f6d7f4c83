#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

// Positions of the parts of the window, by the numbers of the design: a toolbar of 52, headers of 44, a
// bottom bar of 56, panels of 312 and 328, rails of 44. Logical pixels.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Size {
    float width, height, scale; ///< logical pixels, and physical pixels in each
};

/// The program in a window of this size, and its user.
struct SizedUser : User {
    explicit SizedUser(const Size& size, bool dark = false, const std::string& preset = "first-lesson")
        : User(preset, "", size.width * size.scale, size.height * size.scale, size.scale), scale(size.scale) {
        program.state().view.dark = dark;
        driver.move(1, 1);
        settle();
    }
    /// Area of the region of the window with this name, in logical pixels.
    figure::Rect region(const std::string& name) const {
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
            if (window->WasActive && std::string(window->Name).starts_with("Headscope/" + name + "_"))
                return logical({window->Pos.x, window->Pos.y, window->SizeFull.x, window->SizeFull.y});
        FAIL_CHECK("there is no region \"" << name << "\" on screen");
        return {};
    }
    /// Area of the thing with this label in the window itself, in logical pixels.
    figure::Rect area(const std::string& label) const {
        for (const ScreenItem& item : screen_items())
            if (item.label == label && item.window == "Headscope")
                return logical(item.area);
        FAIL_CHECK("there is no \"" << label << "\" on screen");
        return {};
    }
    figure::Rect logical(const figure::Rect& area) const {
        return {area.x / scale, area.y / scale, area.w / scale, area.h / scale};
    }
    float scale;
};

void check_area(const figure::Rect& area, const figure::Rect& expected, float margin = 0.5F) {
    INFO("at " << area.x << ", " << area.y << ", " << area.w << " x " << area.h);
    CHECK(area.x == Approx(expected.x).margin(margin));
    CHECK(area.y == Approx(expected.y).margin(margin));
    CHECK(area.w == Approx(expected.w).margin(margin));
    CHECK(area.h == Approx(expected.h).margin(margin));
}

float middle_y(const figure::Rect& area) {
    return area.y + area.h / 2;
}

/// By how much the smaller side of what two areas share is wide.
float shared(const figure::Rect& a, const figure::Rect& b) {
    const float across = std::min(a.right(), b.right()) - std::max(a.x, b.x);
    const float down = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
    return std::min(across, down);
}

} // namespace

TEST_CASE("the parts of the window stand where the design puts them", "[gui][grid]") {
    const bool dark = GENERATE(false, true);
    const float scale = GENERATE(1.0F, 1.25F, 1.5F, 2.0F);
    INFO((dark ? "dark" : "light") << " at " << scale);
    SECTION("at 1600 x 1000") {
        const SizedUser user({1600, 1000, scale}, dark);
        check_area(user.region("canvas"), {312, 120, 960, 824});
        check_area(user.region("guide"), {0, 96, 311, 848}, 1); // beside a border of 1
        check_area(user.region("inspector"), {1273, 96, 327, 848}, 1);
        const figure::Rect sentence = user.area("##sentence");
        CHECK(middle_y(sentence) == Approx(26).margin(1));
        CHECK(sentence.w <= 620);
        const figure::Rect x = user.area("stage x"), output = user.area("stage output"),
                           guide = user.area("Guide"), play = user.area("play"), bar = user.area("scrubber");
        CHECK(x.y == Approx(52).margin(0.5));
        CHECK(x.h == Approx(68).margin(0.5));
        CHECK(x.x >= 312);
        CHECK(output.right() <= 1272);
        CHECK(guide.y == Approx(52).margin(0.5));
        CHECK(guide.h == Approx(44).margin(0.5));
        CHECK(guide.right() <= 312);
        CHECK(play.w == Approx(34).margin(0.5));
        CHECK(play.h == Approx(34).margin(0.5));
        CHECK(middle_y(play) == Approx(972).margin(0.5));
        CHECK(middle_y(bar) == Approx(972).margin(0.5));
    }
    SECTION("at 1280 x 720 the inspector stands open") {
        const SizedUser user({1280, 720, scale}, dark);
        check_area(user.region("canvas"), {312, 96, 640, 568});
        check_area(user.region("guide"), {0, 96, 311, 568}, 1);
        check_area(user.region("inspector"), {953, 96, 327, 568}, 1);
        CHECK(middle_y(user.area("play")) == Approx(692).margin(0.5));
    }
    SECTION("with both panels folded the canvas takes their room") {
        SizedUser user({1600, 1000, scale}, dark);
        user.act(OpenLeft{false});
        user.act(OpenInspector{false});
        check_area(user.area("open Guide"), {0, 52, 44, 892});
        check_area(user.region("canvas"), {44, 120, 1512, 824});
        check_area(user.area("open Inspector"), {1556, 52, 44, 892});
    }
}

TEST_CASE("nothing of the frame leaves the window or lies over another thing", "[gui][grid]") {
    const Size size =
        GENERATE(Size{800, 500, 1}, Size{1280, 720, 1}, Size{1280, 720, 1.5F}, Size{1280, 720, 2},
                 Size{1600, 1000, 1.25F}, Size{1920, 1080, 2}, Size{3840, 2160, 1});
    const bool dark = GENERATE(false, true);
    INFO(size.width << " x " << size.height << " at " << size.scale << (dark ? " dark" : " light"));
    SizedUser user(size, dark, "eight-experts");
    for (const StageGroup group : {StageGroup::x, StageGroup::weights, StageGroup::output}) {
        user.act(GoTo{group});
        std::vector<std::pair<std::string, figure::Rect>> things;
        for (const ScreenItem& item : screen_items())
            if (item.window == "Headscope" && !item.label.empty() && item.label.front() != '#' &&
                !item.label.ends_with(" edge") && item.area.w >= 1 && item.area.h >= 1)
                things.emplace_back(item.label, user.logical(item.area));
        CHECK(things.size() > 20); // 11 steps of the strip, the lists of the toolbar, the buttons of playback
        for (std::size_t n = 0; n < things.size(); ++n) {
            const auto& [label, area] = things[n];
            INFO(label << " at " << area.x << ", " << area.y << ", " << area.w << " x " << area.h);
            CHECK(area.x >= -0.5F);
            CHECK(area.y >= -0.5F);
            CHECK(area.right() <= size.width + 0.5F);
            CHECK(area.bottom() <= size.height + 0.5F);
            for (std::size_t other = 0; other < n; ++other)
                if (shared(area, things[other].second) > 1)
                    FAIL_CHECK("lies over \"" << things[other].first << "\" by "
                                              << shared(area, things[other].second));
        }
        // Matrices on the same screen do not overlap.
        const auto& grids = user.program.canvas().grids;
        for (std::size_t n = 0; n < grids.size(); ++n)
            for (std::size_t other = 0; other < n; ++other)
                if (shared(grids[n].area, grids[other].area) > 1)
                    FAIL_CHECK(tensor_info(grids[n].tensor).name << " lies over "
                                                                 << tensor_info(grids[other].tensor).name);
    }
}

} // namespace headscope::test
