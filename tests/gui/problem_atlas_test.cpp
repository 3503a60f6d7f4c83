#include "app/state/screens/screen.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

namespace headscope::test {
namespace {

using analysis::HeadScore;

TEST_CASE("a problem has an atlas, with the scores of its panel of heads", "[gui][atlas]") {
    User user;
    begin_recording();
    REQUIRE(user.click("Heads"));
    user.settle();
    user.press("Atlas of the heads");
    REQUIRE(user.shown().atlas != nullptr);
    const Atlas atlas = *user.shown().atlas;
    REQUIRE(atlas.L == 1);
    REQUIRE(atlas.H == 2);
    CHECK(screen_shows("Head atlas"));
    CHECK(screen_shows("2 heads"));
    for (std::int64_t h = 0; h < 2; ++h)
        for (const HeadScore score : {HeadScore::previous, HeadScore::entropy, HeadScore::first})
            CHECK((*atlas.at(0, h))[score] ==
                  Approx(user.shown().metrics[static_cast<std::size_t>(h)][score]));
    CHECK_FALSE(atlas.offers(HeadScore::copying));
    SECTION("that follows its weights") {
        user.act(SetTemperature{4});
        CHECK((*user.shown().atlas->at(0, 0))[HeadScore::entropy] > (*atlas.at(0, 0))[HeadScore::entropy]);
    }
    SECTION("that has every head as soon as the program has settled, without a further frame") {
        for (int n = 1; n <= 40; ++n) {
            user.program.act(SetTemperature{1 + 0.05F * static_cast<float>(n)});
            user.program.settle();
            REQUIRE(user.shown().atlas != nullptr);
            INFO("temperature " << user.shown().problem().temperature);
            for (std::int64_t h = 0; h < 2; ++h) {
                REQUIRE(user.shown().atlas->at(0, h).has_value());
                CHECK((*user.shown().atlas->at(0, h))[HeadScore::entropy] ==
                      Approx(user.shown().metrics[static_cast<std::size_t>(h)][HeadScore::entropy]));
            }
        }
    }
    SECTION("in which a head is opened") {
        user.press("tile H1");
        CHECK(user.view().head == 1);
        user.press("Open head");
        CHECK(user.view().attention.screen == Screen::stages);
        CHECK(user.program.state().head_grid == nullptr);
        CHECK(screen_shows("Attention weights"));
    }
    SECTION("that Esc empties of a choice, and a key leaves") {
        user.act(SearchHeads{"H1"});
        CHECK_FALSE(user.view().attention.atlas.search.empty());
        user.driver.key(GLFW_KEY_ESCAPE);
        user.settle();
        CHECK(user.view().attention.atlas.search.empty());
        user.driver.key(GLFW_KEY_C, GLFW_MOD_ALT);
        CHECK(user.view().attention.atlas.menu == AtlasMenu::colour);
        user.driver.key(GLFW_KEY_ESCAPE);
        CHECK(user.view().attention.atlas.menu == AtlasMenu::none);
        user.driver.key(GLFW_KEY_2, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(screen_shows("Attention weights"));
        user.driver.key(GLFW_KEY_3, GLFW_MOD_CONTROL);
        user.press("← Stages");
        CHECK(screen_shows("Attention weights"));
    }
    SECTION("that a lesson does not stand on") {
        user.act(OpenLesson{user.program.state().course.lessons.front()->id});
        CHECK(user.view().attention.screen == Screen::stages);
    }
    end_recording();
}

} // namespace
} // namespace headscope::test
