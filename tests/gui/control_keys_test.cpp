#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/files_desk.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <string>

// The arrow keys move controls that can be dragged, after Tab has reached them. Tab and arrows move through
// rows of menus.

namespace headscope::test {

using namespace headscope::app;
namespace {

const ScreenItem* item_at(const figure::Rect& area) {
    const auto near = [](float a, float b) { return std::abs(a - b) < 1.5F; };
    const auto found = std::ranges::find_if(screen_items(), [&](const ScreenItem& item) {
        return near(item.area.x, area.x) && near(item.area.y, area.y) && near(item.area.w, area.w) &&
               near(item.area.h, area.h);
    });
    return found == screen_items().end() ? nullptr : &*found;
}

void press(Desk& desk, int key, int modifiers = 0) {
    desk.driver.key(key, modifiers);
    desk.driver.wait(3);
    desk.settle();
}

/// Presses Tab until the focus ring is on that control.
void tab_to(Desk& desk, const std::string& label) {
    for (int step = 0; step < 600; ++step) {
        desk.driver.key(GLFW_KEY_TAB);
        desk.driver.wait(2);
        REQUIRE(desk.program.focus() != nullptr);
        const ScreenItem* const item = item_at(desk.program.focus()->area());
        if (item != nullptr && item->label == label)
            return;
    }
    FAIL("Tab does not reach " << label);
}

struct AtlasOfPocket : Desk {
    AtlasOfPocket() {
        open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book");
        act(ShowScreen{Screen::atlas});
        settle();
    }
    const AtlasView& atlas() const { return view().attention.atlas; }
};

} // namespace

TEST_CASE("arrow keys move a slider, in whole decimals", "[gui][focus][keys]") {
    Desk desk;
    desk.act(ShowTab{LeftTab::edit});
    const StageGroup stage = desk.view().group;
    const auto gain = [&] { return desk.problem().gain(1); };
    REQUIRE(gain() == 1.0F);
    tab_to(desk, "gain 1");
    press(desk, GLFW_KEY_RIGHT);
    CHECK(gain() == 1.1F);
    press(desk, GLFW_KEY_UP);
    CHECK(gain() == 1.2F);
    for (int times = 0; times < 4; ++times)
        press(desk, GLFW_KEY_LEFT);
    CHECK(gain() == 0.8F);
    press(desk, GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    CHECK(gain() == 0.81F);
    press(desk, GLFW_KEY_HOME);
    CHECK(gain() == 0.0F);
    press(desk, GLFW_KEY_END);
    CHECK(gain() == 2.0F);
    press(desk, GLFW_KEY_ENTER);
    CHECK(gain() == 1.0F);
    CHECK(desk.view().group == stage); // the arrows were the slider's
    press(desk, GLFW_KEY_ESCAPE);
    press(desk, GLFW_KEY_RIGHT);
    CHECK(desk.view().group != stage);
    CHECK(gain() == 1.0F);
}

TEST_CASE("arrow keys move the scrubber", "[gui][focus][keys]") {
    Desk desk;
    desk.act(GoTo{StageGroup::scores});
    tab_to(desk, "scrubber");
    press(desk, GLFW_KEY_RIGHT);
    CHECK(desk.view().group == StageGroup::scaled);
    press(desk, GLFW_KEY_LEFT);
    press(desk, GLFW_KEY_LEFT);
    CHECK(desk.view().group == StageGroup::split);
    press(desk, GLFW_KEY_DOWN);
    CHECK(desk.view().row == 0);
    press(desk, GLFW_KEY_UP);
    CHECK(desk.view().row == -1);
    press(desk, GLFW_KEY_END);
    CHECK(desk.view().group == StageGroup::output);
    press(desk, GLFW_KEY_HOME);
    CHECK(desk.view().group == StageGroup::x);
}

TEST_CASE("arrow keys move the edges of panels, of the manual and of a board", "[gui][focus][keys]") {
    Desk desk;
    const float left = desk.view().left_width, inspector = desk.view().inspector_width;
    tab_to(desk, "left edge");
    press(desk, GLFW_KEY_RIGHT);
    CHECK(desk.view().left_width == left + 16);
    press(desk, GLFW_KEY_LEFT, GLFW_MOD_SHIFT);
    CHECK(desk.view().left_width == left + 15);
    press(desk, GLFW_KEY_HOME);
    CHECK(desk.view().left_width == 280);
    tab_to(desk, "inspector edge");
    press(desk, GLFW_KEY_LEFT);
    CHECK(desk.view().inspector_width == inspector + 16);
    press(desk, GLFW_KEY_END);
    CHECK(desk.view().inspector_width == 280);

    press(desk, GLFW_KEY_F1);
    REQUIRE_FALSE(desk.view().manual_width);
    tab_to(desk, "left edge");
    press(desk, GLFW_KEY_RIGHT);
    CHECK(desk.view().manual_width == 416.0F);
    press(desk, GLFW_KEY_ESCAPE);

    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    tab_to(desk, "board edge");
    const float edge = desk.driver.find("board edge")->x;
    press(desk, GLFW_KEY_RIGHT);
    REQUIRE(desk.view().head_grid_width);
    CHECK(desk.driver.find("board edge")->x == Approx(edge + 16));
    press(desk, GLFW_KEY_HOME);
    CHECK(desk.view().head_grid_width == 180.0F);
}

TEST_CASE("the edge between board and head is dragged, within bounds", "[gui][layout]") {
    Desk desk;
    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto drag = [&](float by) {
        const figure::Rect area = *desk.driver.find("board edge");
        const float x = area.x + area.w / 2, y = area.y + area.h / 2;
        desk.driver.drag(x, y, x + by, y);
        desk.settle();
    };
    const float before = desk.driver.find("board edge")->x;
    drag(80);
    CHECK(desk.driver.find("board edge")->x == Approx(before + 80).margin(1));
    drag(-900);
    CHECK(desk.view().head_grid_width == 180.0F);
}

TEST_CASE("arrow keys move what the atlas chooses heads by", "[gui][focus][keys]") {
    AtlasOfPocket desk;
    const auto threshold = [&] {
        return desk.atlas().thresholds[static_cast<std::size_t>(analysis::HeadScore::previous)];
    };
    const float before = threshold();
    tab_to(desk, "threshold previous");
    press(desk, GLFW_KEY_RIGHT);
    CHECK(threshold() == Approx(before + 0.05F));
    press(desk, GLFW_KEY_DOWN, GLFW_MOD_SHIFT);
    CHECK(threshold() == Approx(before + 0.04F));
    press(desk, GLFW_KEY_ENTER);
    CHECK(threshold() == before);

    REQUIRE(desk.atlas().brush.empty());
    tab_to(desk, "distribution entropy");
    press(desk, GLFW_KEY_RIGHT);
    REQUIRE(desk.atlas().brush.size() == 1);
    const ScoreRange one = desk.atlas().brush.front();
    CHECK(one.score == analysis::HeadScore::entropy);
    press(desk, GLFW_KEY_RIGHT);
    press(desk, GLFW_KEY_DOWN);
    CHECK(desk.atlas().brush.front().low > one.low);
    CHECK(desk.atlas().brush.front().high < one.high);
    press(desk, GLFW_KEY_ESCAPE);
    press(desk, GLFW_KEY_ESCAPE);

    tab_to(desk, "scatter");
    press(desk, GLFW_KEY_RIGHT);
    REQUIRE(desk.atlas().brush.size() == 2);
    const std::vector<ScoreRange> brushed = desk.atlas().brush;
    press(desk, GLFW_KEY_UP);
    CHECK(desk.atlas().brush[0].score == brushed[0].score);
    CHECK(desk.atlas().brush[0].low == Approx(brushed[0].low));
    CHECK(desk.atlas().brush[0].high == Approx(brushed[0].high));
    CHECK(desk.atlas().brush[1].low > brushed[1].low);
    tab_to(desk, "brush top right");
    press(desk, GLFW_KEY_LEFT);
    CHECK(desk.atlas().brush[0].low == Approx(brushed[0].low));
    CHECK(desk.atlas().brush[0].high < brushed[0].high);
}

TEST_CASE("Tab and arrows walk the rows of menus", "[gui][focus][keys]") {
    Desk desk;
    const bool arrows = GENERATE(false, true);
    const int next = arrows ? GLFW_KEY_DOWN : GLFW_KEY_TAB, before = arrows ? GLFW_KEY_UP : GLFW_KEY_TAB;
    const int back = arrows ? 0 : GLFW_MOD_SHIFT;
    // A drop-down opens at what is chosen.
    tab_to(desk, "mask");
    press(desk, GLFW_KEY_ENTER);
    press(desk, next);
    press(desk, next);
    press(desk, before, back);
    press(desk, GLFW_KEY_ENTER);
    CHECK(desk.program.state().document->recipe.mask == project::MaskChoice::causal);

    desk.driver.key(GLFW_KEY_F, GLFW_MOD_ALT);
    desk.driver.wait(3);
    REQUIRE(screen_shows("Save as"));
    press(desk, before, back); // round to the last row, Quit
    press(desk, before, back); // Present
    press(desk, GLFW_KEY_ENTER);
    CHECK(desk.program.state().presentation.on);
    press(desk, GLFW_KEY_ESCAPE);

    desk.act(GoTo{StageGroup::output});
    desk.act(Select{CellAddress{TensorId::W_O, {5, 1, 0, 0}}});
    desk.driver.key(GLFW_KEY_F10, GLFW_MOD_SHIFT);
    desk.driver.wait(3);
    press(desk, next);
    const std::size_t lit = desk.program.state().menu.highlighted;
    press(desk, next);
    CHECK(desk.program.state().menu.highlighted > lit);
    press(desk, before, back);
    CHECK(desk.program.state().menu.highlighted == lit);
}

} // namespace headscope::test
