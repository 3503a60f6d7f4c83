#include "app/state/screens/screen.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"

#include <GLFW/glfw3.h>

namespace headscope::test {
namespace {

using analysis::HeadScore;

TEST_CASE("a problem has an atlas, with the scores of its panel of heads", "[gui][atlas]") {
    Desk desk;
    begin_recording();
    REQUIRE(desk.click("Heads"));
    desk.settle();
    desk.press("Atlas of the heads");
    REQUIRE(desk.shown().atlas != nullptr);
    const Atlas atlas = *desk.shown().atlas;
    REQUIRE(atlas.L == 1);
    REQUIRE(atlas.H == 2);
    CHECK(screen_shows("Head atlas"));
    CHECK(screen_shows("2 heads"));
    for (std::int64_t h = 0; h < 2; ++h)
        for (const HeadScore score : {HeadScore::previous, HeadScore::entropy, HeadScore::first})
            CHECK((*atlas.at(0, h))[score] ==
                  Approx(desk.shown().metrics[static_cast<std::size_t>(h)][score]));
    CHECK_FALSE(atlas.offers(HeadScore::copying));
    SECTION("that follows its weights") {
        desk.act(SetTemperature{4});
        CHECK((*desk.shown().atlas->at(0, 0))[HeadScore::entropy] > (*atlas.at(0, 0))[HeadScore::entropy]);
    }
    SECTION("that has every head as soon as the program has settled, without a further frame") {
        for (int n = 1; n <= 40; ++n) {
            desk.program.act(SetTemperature{1 + 0.05F * static_cast<float>(n)});
            desk.program.settle();
            REQUIRE(desk.shown().atlas != nullptr);
            INFO("temperature " << desk.shown().problem().temperature);
            for (std::int64_t h = 0; h < 2; ++h) {
                REQUIRE(desk.shown().atlas->at(0, h).has_value());
                CHECK((*desk.shown().atlas->at(0, h))[HeadScore::entropy] ==
                      Approx(desk.shown().metrics[static_cast<std::size_t>(h)][HeadScore::entropy]));
            }
        }
    }
    SECTION("in which a head is opened") {
        desk.press("tile H1");
        CHECK(desk.view().head == 1);
        desk.press("Open head");
        CHECK(desk.view().attention.screen == Screen::stages);
        CHECK(desk.program.state().head_grid == nullptr);
        CHECK(screen_shows("Attention weights"));
    }
    SECTION("that Esc empties of a choice, and a key leaves") {
        desk.act(SearchHeads{"H1"});
        CHECK_FALSE(desk.view().attention.atlas.search.empty());
        desk.driver.key(GLFW_KEY_ESCAPE);
        desk.settle();
        CHECK(desk.view().attention.atlas.search.empty());
        desk.driver.key(GLFW_KEY_C, GLFW_MOD_ALT);
        CHECK(desk.view().attention.atlas.menu == AtlasMenu::colour);
        desk.driver.key(GLFW_KEY_ESCAPE);
        CHECK(desk.view().attention.atlas.menu == AtlasMenu::none);
        desk.driver.key(GLFW_KEY_1, GLFW_MOD_CONTROL);
        desk.settle();
        CHECK(screen_shows("Attention weights"));
        desk.driver.key(GLFW_KEY_2, GLFW_MOD_CONTROL);
        desk.press("← Stages");
        CHECK(screen_shows("Attention weights"));
    }
    SECTION("that a lesson does not stand on") {
        desk.act(OpenLesson{desk.program.state().course.lessons.front()->id});
        CHECK(desk.view().attention.screen == Screen::stages);
    }
    end_recording();
}

} // namespace
} // namespace headscope::test
