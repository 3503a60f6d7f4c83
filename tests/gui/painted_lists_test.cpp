#include "app/shell/gl/painted_lists.h"
#include "tests/catch.h"
#include "tests/gui/support/driver.h"

#include <utility>

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr ImU32 white = IM_COL32_WHITE;

struct Square final : Ui {
    float left = 10;
    ImU32 color = IM_COL32(255, 0, 0, 255);
    ImTextureID texture = nullptr;
    bool ring = false;

    void frame(Surface&, double) override {
        ImDrawList& list = *ImGui::GetForegroundDrawList();
        list.AddRectFilled({left, 10}, {left + 10, 20}, color);
        if (texture != nullptr)
            list.AddImage(texture, {0, 0}, {5, 5});
        if (ring)
            list.AddRect({0, 0}, {30, 30}, color);
    }
    bool animating() const override { return false; }
    float zoom() const override { return 1; }
    figure::Color background() const override { return figure::rgb(0xFFFFFF); }
    std::string title() const override { return "square"; }
    bool quitting() const override { return false; }
};

} // namespace

TEST_CASE("a frame is painted only where it differs from the picture on screen", "[gui]") {
    Square ui;
    ui.texture = &ui;
    Driver driver(ui);
    PaintedLists painted;
    const auto same = [&](ImU32 background = white) {
        driver.wait();
        return painted.shows(*ImGui::GetDrawData(), background);
    };
    CHECK_FALSE(same()); // nothing is on screen
    painted.keep(*ImGui::GetDrawData(), white);
    CHECK(same());
    CHECK_FALSE(same(IM_COL32_BLACK));

    const auto differs = [&](auto& what, auto value) {
        const auto before = std::exchange(what, value);
        CHECK_FALSE(same());
        what = before;
        CHECK(same());
    };
    differs(ui.left, 11.0F);
    differs(ui.color, IM_COL32(255, 0, 1, 255));
    differs(ui.texture, static_cast<ImTextureID>(&driver));
    differs(ui.ring, true); // the kept picture is the beginning of this one
    ui.ring = true;
    driver.wait();
    painted.keep(*ImGui::GetDrawData(), white);
    differs(ui.ring, false);

    driver.resize(1599, 1000);
    CHECK_FALSE(same());
    driver.resize(1600, 1000);
    CHECK(same());
    painted.forget();
    CHECK_FALSE(same());
}

} // namespace headscope::test
