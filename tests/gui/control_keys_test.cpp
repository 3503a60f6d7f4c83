#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
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

void press(User& user, int key, int modifiers = 0) {
    user.driver.key(key, modifiers);
    user.driver.wait(3);
    user.settle();
}

/// Presses Tab until the focus ring is on that control.
void tab_to(User& user, const std::string& label) {
    for (int step = 0; step < 600; ++step) {
        user.driver.key(GLFW_KEY_TAB);
        user.driver.wait(2);
        REQUIRE(user.program.focus() != nullptr);
        const ScreenItem* const item = item_at(user.program.focus()->area());
        if (item != nullptr && item->label == label)
            return;
    }
    FAIL("Tab does not reach " << label);
}

struct AtlasOfPocket : User {
    AtlasOfPocket() {
        open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book");
        act(ShowScreen{Screen::atlas});
        settle();
    }
    const AtlasView& atlas() const { return view().attention.atlas; }
};

} // namespace

TEST_CASE("arrow keys move a slider, in whole decimals", "[gui][focus][keys]") {
    User user;
    user.act(ShowTab{LeftTab::edit});
    const StageGroup stage = user.view().group;
    const auto gain = [&] { return user.problem().gain(1); };
    REQUIRE(gain() == 1.0F);
    tab_to(user, "gain 1");
    press(user, GLFW_KEY_RIGHT);
    CHECK(gain() == 1.1F);
    press(user, GLFW_KEY_UP);
    CHECK(gain() == 1.2F);
    for (int times = 0; times < 4; ++times)
        press(user, GLFW_KEY_LEFT);
    CHECK(gain() == 0.8F);
    press(user, GLFW_KEY_RIGHT, GLFW_MOD_SHIFT);
    CHECK(gain() == 0.81F);
    press(user, GLFW_KEY_HOME);
    CHECK(gain() == 0.0F);
    press(user, GLFW_KEY_END);
    CHECK(gain() == 2.0F);
    press(user, GLFW_KEY_ENTER);
    CHECK(gain() == 1.0F);
    CHECK(user.view().group == stage); // the arrows were the slider's
    press(user, GLFW_KEY_ESCAPE);
    press(user, GLFW_KEY_RIGHT);
    CHECK(user.view().group != stage);
    CHECK(gain() == 1.0F);
}

TEST_CASE("arrow keys move the scrubber", "[gui][focus][keys]") {
    User user;
    user.act(GoTo{StageGroup::scores});
    tab_to(user, "scrubber");
    press(user, GLFW_KEY_RIGHT);
    CHECK(user.view().group == StageGroup::scaled);
    press(user, GLFW_KEY_LEFT);
    press(user, GLFW_KEY_LEFT);
    CHECK(user.view().group == StageGroup::split);
    press(user, GLFW_KEY_DOWN);
    CHECK(user.view().row == 0);
    press(user, GLFW_KEY_UP);
    CHECK(user.view().row == -1);
    press(user, GLFW_KEY_END);
    CHECK(user.view().group == StageGroup::output);
    press(user, GLFW_KEY_HOME);
    CHECK(user.view().group == StageGroup::x);
}

TEST_CASE("arrow keys move the edges of panels, of the manual and of a board", "[gui][focus][keys]") {
    User user;
    const float left = user.view().left_width, inspector = user.view().inspector_width;
    tab_to(user, "left edge");
    press(user, GLFW_KEY_RIGHT);
    CHECK(user.view().left_width == left + 16);
    press(user, GLFW_KEY_LEFT, GLFW_MOD_SHIFT);
    CHECK(user.view().left_width == left + 15);
    press(user, GLFW_KEY_HOME);
    CHECK(user.view().left_width == 280);
    tab_to(user, "inspector edge");
    press(user, GLFW_KEY_LEFT);
    CHECK(user.view().inspector_width == inspector + 16);
    press(user, GLFW_KEY_END);
    CHECK(user.view().inspector_width == 280);

    press(user, GLFW_KEY_F1);
    REQUIRE_FALSE(user.view().manual_width);
    tab_to(user, "left edge");
    press(user, GLFW_KEY_RIGHT);
    CHECK(user.view().manual_width == 416.0F);
    press(user, GLFW_KEY_ESCAPE);

    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    tab_to(user, "board edge");
    const float edge = user.driver.find("board edge")->x;
    press(user, GLFW_KEY_RIGHT);
    REQUIRE(user.view().head_grid_width);
    CHECK(user.driver.find("board edge")->x == Approx(edge + 16));
    press(user, GLFW_KEY_HOME);
    CHECK(user.view().head_grid_width == 180.0F);
}

TEST_CASE("the edge between board and head is dragged, within bounds", "[gui][layout]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto drag = [&](float by) {
        const figure::Rect area = *user.driver.find("board edge");
        const float x = area.x + area.w / 2, y = area.y + area.h / 2;
        user.driver.drag(x, y, x + by, y);
        user.settle();
    };
    const float before = user.driver.find("board edge")->x;
    drag(80);
    CHECK(user.driver.find("board edge")->x == Approx(before + 80).margin(1));
    drag(-900);
    CHECK(user.view().head_grid_width == 180.0F);
}

TEST_CASE("arrow keys move what the atlas chooses heads by", "[gui][focus][keys]") {
    AtlasOfPocket user;
    const auto threshold = [&] {
        return user.atlas().thresholds[static_cast<std::size_t>(analysis::HeadScore::previous)];
    };
    const float before = threshold();
    tab_to(user, "threshold previous");
    press(user, GLFW_KEY_RIGHT);
    CHECK(threshold() == Approx(before + 0.05F));
    press(user, GLFW_KEY_DOWN, GLFW_MOD_SHIFT);
    CHECK(threshold() == Approx(before + 0.04F));
    press(user, GLFW_KEY_ENTER);
    CHECK(threshold() == before);

    REQUIRE(user.atlas().brush.empty());
    tab_to(user, "distribution entropy");
    press(user, GLFW_KEY_RIGHT);
    REQUIRE(user.atlas().brush.size() == 1);
    const ScoreRange one = user.atlas().brush.front();
    CHECK(one.score == analysis::HeadScore::entropy);
    press(user, GLFW_KEY_RIGHT);
    press(user, GLFW_KEY_DOWN);
    CHECK(user.atlas().brush.front().low > one.low);
    CHECK(user.atlas().brush.front().high < one.high);
    press(user, GLFW_KEY_ESCAPE);
    press(user, GLFW_KEY_ESCAPE);

    tab_to(user, "scatter");
    press(user, GLFW_KEY_RIGHT);
    REQUIRE(user.atlas().brush.size() == 2);
    const std::vector<ScoreRange> brushed = user.atlas().brush;
    press(user, GLFW_KEY_UP);
    CHECK(user.atlas().brush[0].score == brushed[0].score);
    CHECK(user.atlas().brush[0].low == Approx(brushed[0].low));
    CHECK(user.atlas().brush[0].high == Approx(brushed[0].high));
    CHECK(user.atlas().brush[1].low > brushed[1].low);
    tab_to(user, "brush top right");
    press(user, GLFW_KEY_LEFT);
    CHECK(user.atlas().brush[0].low == Approx(brushed[0].low));
    CHECK(user.atlas().brush[0].high < brushed[0].high);
}

TEST_CASE("Tab and arrows walk the rows of menus", "[gui][focus][keys]") {
    User user;
    const bool arrows = GENERATE(false, true);
    const int next = arrows ? GLFW_KEY_DOWN : GLFW_KEY_TAB, before = arrows ? GLFW_KEY_UP : GLFW_KEY_TAB;
    const int back = arrows ? 0 : GLFW_MOD_SHIFT;
    // A drop-down opens at what is chosen.
    tab_to(user, "mask");
    press(user, GLFW_KEY_ENTER);
    press(user, next);
    press(user, next);
    press(user, before, back);
    press(user, GLFW_KEY_ENTER);
    CHECK(user.program.state().document->recipe.mask == project::MaskChoice::causal);

    user.driver.key(GLFW_KEY_F, GLFW_MOD_ALT);
    user.driver.wait(3);
    REQUIRE(screen_shows("Save as"));
    press(user, before, back); // round to the last row, Quit
    press(user, before, back); // Present
    press(user, GLFW_KEY_ENTER);
    CHECK(user.program.state().presentation.on);
    press(user, GLFW_KEY_ESCAPE);

    user.act(GoTo{StageGroup::output});
    user.act(Select{CellAddress{TensorId::W_O, {5, 1, 0, 0}}});
    user.driver.key(GLFW_KEY_F10, GLFW_MOD_SHIFT);
    user.driver.wait(3);
    press(user, next);
    const std::size_t lit = user.program.state().menu.highlighted;
    press(user, next);
    CHECK(user.program.state().menu.highlighted > lit);
    press(user, before, back);
    CHECK(user.program.state().menu.highlighted == lit);
}

} // namespace headscope::test
