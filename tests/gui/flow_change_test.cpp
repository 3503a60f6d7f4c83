#include "app/draw/kit/format.h"
#include "app/state/model_document.h"
#include "app/state/screens/flow.h"
#include "app/state/screens/screen.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Changes in the Flow: before and now, words that are typed in place, stages that open by zooming.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct ChangeUser : User {
    explicit ChangeUser(float width = 1600, float height = 1000) : User("first-lesson", "", width, height) {
        begin_recording();
        act(ShowScreen{Screen::flow});
        act(OpenLeft{false});
        driver.wait(30); // earlier changes do not belong to the test
        settle();
    }
    const FlowView& flow() const { return view().flow; }
    const AppState& state() const { return program.state(); }
    const std::vector<std::string>& words() const { return problem().tokens; }
    figure::Point middle_of_spot(const std::string& label) const {
        const auto spot = std::ranges::find(program.canvas().hotspots, label, &Hotspot::label);
        REQUIRE(spot != program.canvas().hotspots.end());
        return {spot->area.x + spot->area.w / 2, spot->area.y + spot->area.h / 2};
    }
};

} // namespace

TEST_CASE("while a number is dragged in the Flow, the output shows before and now", "[gui][flow]") {
    ChangeUser user;
    const CellAddress x{TensorId::x, {0, 2, 1, 0}}, output{TensorId::output, {0, 2, 4, 0}};
    const float before = user.shown().value(output);
    CHECK_FALSE(screen_shows("before and now"));
    const figure::Point at = middle_of(user.program.canvas(), x);
    user.driver.move(at.x, at.y);
    user.driver.press();
    for (int step = 1; step <= 4; ++step) {
        user.driver.move(at.x + 10 * static_cast<float>(step), at.y);
        user.program.settle();
        user.driver.wait(2);
        CHECK(user.state().earlier.strength == 1);
        CHECK(user.state().flash.strength > 0);
        // Before is the state before the drag, not the one before its last step.
        CHECK(user.state().earlier.before.value(output) == before);
        CHECK(user.shown().value(output) != before);
    }
    CHECK(screen_shows("before and now"));
    CHECK(screen_shows("change"));
    user.driver.wait(40, 0.1); // held still: it stays
    CHECK(user.state().earlier.strength == 1);
    user.driver.release();
    user.driver.wait(30);
    CHECK(screen_shows("before and now"));
    CHECK_FALSE(user.program.animating());
    CHECK(user.program.next_frame_at() < 60);
    user.driver.wait(40, 0.1);
    CHECK(user.state().earlier.strength == 0);
    CHECK_FALSE(screen_shows("before and now"));
    CHECK_FALSE(user.program.animating());
}

TEST_CASE("a head that is switched off keeps the output before it in sight, and undo ends that",
          "[gui][flow]") {
    ChangeUser user;
    user.press("switch head 0");
    user.driver.wait(60, 0.1);
    CHECK(screen_shows("before and now"));
    user.act(MoveInHistory{-1});
    user.driver.wait(2);
    CHECK_FALSE(screen_shows("before and now"));
    CHECK(user.state().earlier.before.document == nullptr);
}

TEST_CASE("another word of the same length flashes what it changes, without motion nothing flashes",
          "[gui][flow]") {
    ChangeUser user;
    user.program.act(SetSentence{"The dog sat down"});
    user.program.settle();
    user.driver.wait(2);
    CHECK(user.state().flash.strength > 0);
    CHECK(user.state().earlier.strength == 1);
    user.act(SetMotion{false});
    user.program.act(SetSentence{"The bird sat down"});
    user.program.settle();
    user.driver.wait(2);
    CHECK(user.state().flash.strength == 0);
    CHECK(user.state().earlier.strength == 1); // no motion, but a difference
    user.driver.wait(40, 0.1);
    CHECK(user.state().earlier.strength == 0);
}

TEST_CASE("a double click on a word opens a field on it, Enter takes the text and Esc leaves it",
          "[gui][flow]") {
    ChangeUser user;
    const figure::Point cat = user.middle_of_spot("word 1");
    user.driver.double_click(cat.x, cat.y);
    user.driver.wait(4);
    REQUIRE(user.flow().edited == FlowWord{1});
    CHECK(field_text("##word text 1") == "cat");
    user.driver.type("dog");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK_FALSE(user.flow().edited);
    CHECK(user.words() == std::vector<std::string>{"The", "dog", "sat", "down"});
    CHECK(user.state().sentence == "The dog sat down");
    // Enter opens the field of the word in focus; Esc leaves the word as it was.
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(4);
    REQUIRE(user.flow().edited == FlowWord{1});
    user.driver.type("horse");
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK_FALSE(user.flow().edited);
    CHECK(user.words()[1] == "dog");
    CHECK(screen_of(user.shown(), user.view()) == Screen::flow);
    // A click elsewhere closes it.
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(4);
    REQUIRE(user.flow().edited);
    user.driver.click(800, 980);
    user.settle();
    CHECK_FALSE(user.flow().edited);
}

TEST_CASE("Tab goes from the field of a word to the next word", "[gui][flow]") {
    ChangeUser user;
    user.press("word 0");
    user.press("word 0");
    user.driver.wait(4);
    REQUIRE(user.flow().edited == FlowWord{0});
    user.driver.type("A");
    user.driver.key(GLFW_KEY_TAB);
    user.driver.wait(6);
    REQUIRE(user.flow().edited == FlowWord{1});
    user.driver.type("bird");
    user.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
    user.driver.wait(6);
    CHECK(user.flow().edited == FlowWord{0});
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK(user.words() == std::vector<std::string>{"A", "bird", "sat", "down"});
    user.press("word 3");
    user.press("word 3");
    user.driver.wait(4);
    user.driver.key(GLFW_KEY_TAB);
    user.settle();
    CHECK_FALSE(user.flow().edited);
}

TEST_CASE("words typed faster than they are computed are all kept", "[gui][flow]") {
    ChangeUser user;
    const auto place = [&](std::int64_t word) { return *word_place(*user.state().shown.document, word); };
    const TypedWord first{place(0), "A small"}, second{place(1), "bird"}, third{place(3), "up"};
    user.program.act(first);
    user.program.act(second); // no frame has passed: the old text is on screen
    user.program.act(third);
    user.settle();
    CHECK(user.words() == std::vector<std::string>{"A", "small", "bird", "sat", "up"});
    user.program.act(TypedWord{place(0), " "});
    user.program.act(TypedWord{place(4), "down"});
    user.settle();
    CHECK(user.words() == std::vector<std::string>{"small", "bird", "sat", "down"});
}

TEST_CASE("a word that the text cannot do without is kept, and the field says why", "[gui][flow]") {
    ChangeUser user;
    user.act(SetSentence{"cat"});
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(4);
    REQUIRE(user.flow().edited == FlowWord{0});
    user.driver.key(GLFW_KEY_BACKSPACE);
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(3);
    CHECK(user.state().field.error.find("at least one word") != std::string::npos);
    CHECK(user.words() == std::vector<std::string>{"cat"});
}

TEST_CASE("a token of a model's text is typed in place, and its next word shows before and now",
          "[gui][model]") {
    User user;
    begin_recording();
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book to");
    user.act(ShowScreen{Screen::flow});
    user.act(OpenLeft{false});
    const auto& tokens = user.program.state().document->part()->inputs->tokens;
    std::int64_t mary = 0;
    while (tokens[static_cast<std::size_t>(mary)].find("Mary") == std::string::npos)
        ++mary;
    const std::int64_t last = user.shown().position;
    // ↑ and ↓ choose the token.
    user.press_key(GLFW_KEY_UP);
    CHECK(user.shown().position == last - 1);
    user.press_key(GLFW_KEY_DOWN);
    CHECK(user.shown().position == last);
    user.press("position " + std::to_string(mary));
    user.press("position " + std::to_string(mary));
    user.driver.wait(4);
    REQUIRE(user.view().flow.edited == FlowWord{mary});
    user.driver.type("Anna");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.program.state().document->part()->prompt ==
          "When Anna and John went to the shop, John gave a book to");
    user.act(MoveInHistory{-1});
    // Two tokens typed before the run of the first is on screen: both are kept.
    const Document shown = *user.program.state().shown.document;
    user.program.act(TypedWord{*word_place(shown, mary), "Anna"});
    user.program.act(TypedWord{*word_place(shown, mary + 2), "Tom"});
    user.settle();
    CHECK(user.program.state().document->part()->prompt ==
          "When Anna and Tom went to the shop, John gave a book to");
    user.act(MoveInHistory{-1});
    user.act(PredictAt{-1});
    CHECK_FALSE(screen_shows("was "));
    const auto before = user.shown().causes;
    user.program.act(SetHeadGain{{checkpoint::Stack::own, 2}, 7, 0.8F});
    user.settle();
    CHECK(user.program.state().earlier.strength == 1);
    REQUIRE(user.shown().causes != before);
    const std::int64_t first = user.shown().causes->causes.likeliest.front().id;
    const auto& likeliest = before->causes.likeliest;
    const auto former = std::ranges::find(likeliest, first, &checkpoint::TokenChance::id);
    REQUIRE(former != likeliest.end());
    CHECK(screen_shows("was " + percent_text(static_cast<double>(former->probability))));
    user.driver.wait(40, 0.1);
    CHECK_FALSE(screen_shows("was "));
}

TEST_CASE("a click on a part of the Flow opens its stage out of it, Ctrl click keeps its path",
          "[gui][flow]") {
    ChangeUser user;
    const CellAddress key{TensorId::k_heads, {0, 1, 3, 2}}, on_page{TensorId::k, {0, 3, 6, 0}};
    const figure::Point at = middle_of(user.program.canvas(), key);
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, true);
    user.driver.click(at.x, at.y);
    user.driver.hold(GLFW_KEY_LEFT_CONTROL, false);
    user.settle();
    CHECK(screen_of(user.shown(), user.view()) == Screen::flow);
    CHECK(user.view().selected == key);
    user.act(Select{});
    user.driver.click(at.x, at.y);
    user.driver.wait(1);
    CHECK(user.view().attention.screen == Screen::stages);
    CHECK(user.view().group == StageGroup::qkv);
    CHECK(user.view().projection == Projection::k);
    REQUIRE(user.state().leaving != nullptr);
    CHECK(user.view().arrival < 0.5F);
    // Its cells begin where they were in the Flow.
    const figure::Point early = middle_of(user.program.canvas(), on_page);
    CHECK(std::abs(early.x - at.x) + std::abs(early.y - at.y) < 120);
    user.driver.wait(20);
    CHECK(user.state().leaving == nullptr);
    CHECK(user.view().arrival == 1);
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(1);
    CHECK(screen_of(user.shown(), user.view()) == Screen::flow);
    CHECK(user.state().leaving != nullptr);
    // Interrupted: the stage opens again at once.
    user.program.act(GoTo{StageGroup::weights});
    user.driver.wait(2);
    CHECK(user.state().leaving != nullptr);
    user.settle();
    CHECK(user.state().leaving == nullptr);
    user.act(SetMotion{false});
    user.program.act(ShowScreen{Screen::flow});
    user.driver.wait(2);
    CHECK(user.view().arrival == 1);
    CHECK(user.state().leaving == nullptr);
}

TEST_CASE("the strip has small pictures of its stages where they fit", "[gui][flow]") {
    ChangeUser user;
    const auto pictures = [&] {
        return user.driver.find("Headscope/stage weights").value_or(figure::Rect{}).h;
    };
    CHECK(pictures() == live_strip_height);
    user.driver.resize(1280, 720);
    user.settle();
    CHECK(pictures() == low_live_strip_height);
    user.driver.resize(800, 600);
    user.settle();
    CHECK(pictures() == strip_height);
}

} // namespace headscope::test
