#include "app/commands/actions.h"
#include "app/state/preferences.h"
#include "app/views/action_context.h"
#include "app/views/surface.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <string>

// The manual in the window, and context menus, through the real path of keys and mouse.

namespace headscope::test {

using namespace headscope::app;
namespace {

const ManualPanel& manual_of(const User& user) {
    return user.program.state().manual;
}

manual::Place place(const std::string& page, const std::string& anchor) {
    return {page, anchor};
}

/// The label of the first link to that target.
std::string link_to(const std::string& target) {
    const auto& items = screen_items();
    const auto found = std::ranges::find_if(
        items, [&](const ScreenItem& one) { return one.label.ends_with(" " + target) && one.reachable(); });
    REQUIRE(found != items.end());
    return found->label;
}

/// Presses the right mouse button on the middle of a cell of the canvas.
void right_click(User& user, const CellAddress& cell) {
    const figure::Point at = middle_of(user.program.canvas(), cell);
    user.driver.click(at.x, at.y, 1);
    user.driver.wait(3);
}

void key(User& user, int which, int held = 0) {
    user.driver.key(which, held);
    user.driver.wait(3);
}

} // namespace

TEST_CASE("F1 opens the manual at the stage, again the keys, and Esc closes both", "[gui][manual]") {
    User user;
    user.act(GoTo{StageGroup::scaled});
    const std::string before = signature(user.program);
    key(user, GLFW_KEY_F1);
    REQUIRE(manual_of(user).open);
    CHECK(manual_of(user).at == place("stages", "scaled"));
    CHECK(screen_shows("scaled = scores ÷ √dk"));
    CHECK(screen_shows("division"));
    CHECK_FALSE(user.view().help_open);
    key(user, GLFW_KEY_F1);
    CHECK(user.view().help_open);
    CHECK(screen_shows("Stages"));
    key(user, GLFW_KEY_ESCAPE);
    CHECK_FALSE(user.view().help_open);
    CHECK(manual_of(user).open);
    key(user, GLFW_KEY_ESCAPE);
    CHECK_FALSE(manual_of(user).open);
    CHECK(signature(user.program) == before);
}

TEST_CASE("a link of the manual is followed, and Alt Left goes back to where one was", "[gui][manual]") {
    User user;
    user.act(OpenManual{place("stages", "weights")});
    const float scroll = manual_of(user).scroll;
    CHECK(scroll > 100);
    user.press(link_to("effects#what-these-numbers-do-not-say"));
    CHECK(manual_of(user).at == place("effects", "what-these-numbers-do-not-say"));
    key(user, GLFW_KEY_LEFT, GLFW_MOD_ALT);
    CHECK(manual_of(user).at == place("stages", "weights"));
    CHECK(manual_of(user).scroll == Approx(scroll).margin(1));
    key(user, GLFW_KEY_RIGHT, GLFW_MOD_ALT);
    CHECK(manual_of(user).at.page == "effects");
    user.press("Contents");
    CHECK(screen_shows("Command line"));
    user.press(link_to("keyboard#"));
    CHECK(manual_of(user).at == place("keyboard", ""));
}

TEST_CASE("a search of the manual lists places, and Return opens the first one", "[gui][manual]") {
    User user;
    key(user, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    user.driver.type("logit lens");
    user.driver.wait(3);
    CHECK(manual_of(user).search == "logit lens");
    CHECK(screen_shows("places"));
    CHECK(user.view().group == StageGroup::weights); // no letter reached the canvas
    key(user, GLFW_KEY_ENTER);
    CHECK(manual_of(user).at == place("effects", "logit-lens"));
    CHECK(manual_of(user).search.empty());
    key(user, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    user.driver.type("xyzzy");
    user.driver.wait(3);
    CHECK(screen_shows("No"));
    key(user, GLFW_KEY_ESCAPE);
    CHECK(manual_of(user).search.empty());
    CHECK(manual_of(user).open);
    key(user, GLFW_KEY_ESCAPE);
    CHECK_FALSE(manual_of(user).open);
}

TEST_CASE("a listing of the manual is copied, and the palette finds its headings", "[gui][manual]") {
    User user;
    user.act(OpenManual{place("stages", "scores")});
    const auto& items = screen_items();
    const auto copy = std::ranges::find_if(items, [](const ScreenItem& one) {
        return one.label.starts_with("copy listing") && one.reachable();
    });
    REQUIRE(copy != items.end());
    user.press(copy->label);
    CHECK(user.driver.clipboard == "scores[h][i, j] = q_heads[h][i] · k_heads[h][j]\n");
    key(user, GLFW_KEY_P, GLFW_MOD_CONTROL);
    user.driver.type("?path patching");
    user.driver.wait(3);
    key(user, GLFW_KEY_ENTER);
    CHECK(manual_of(user).at.anchor == "path-patching");
    key(user, GLFW_KEY_P, GLFW_MOD_CONTROL);
    user.driver.type("zzqq");
    user.driver.wait(3);
    CHECK(screen_shows("Search the manual for “zzqq”"));
    key(user, GLFW_KEY_ENTER);
    CHECK(manual_of(user).search == "zzqq");
}

TEST_CASE("a word of the glossary in the Guide opens the manual", "[gui][manual]") {
    User user;
    user.act(ShowTab{LeftTab::guide});
    user.act(GoTo{StageGroup::scores});
    user.press(link_to("glossary#query"));
    CHECK(manual_of(user).at == place("glossary", "query"));
}

TEST_CASE("a word of the glossary in the inspector opens the manual", "[gui][manual]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 2, 1}}});
    user.press(link_to("glossary#softmax"));
    CHECK(manual_of(user).at == place("glossary", "softmax"));
    key(user, GLFW_KEY_ESCAPE);
    // Also of a checkpoint's heads.
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    user.act(ShowScreen{Screen::effects});
    const auto& items = screen_items();
    CHECK(std::ranges::any_of(items, [](const ScreenItem& one) {
        return one.window.find("inspector") != std::string::npos &&
               one.label.find(" glossary#") != std::string::npos;
    }));
}

TEST_CASE("the manual is searched once for each text, and keeps its width", "[gui][manual]") {
    User user;
    key(user, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    user.driver.type("soft");
    user.driver.wait(3);
    const auto found = manual_of(user).found;
    REQUIRE(found != nullptr);
    CHECK_FALSE(found->empty());
    user.driver.wait(5);
    CHECK(manual_of(user).found == found);
    user.driver.type("max");
    user.driver.wait(3);
    CHECK(manual_of(user).found != found);
    CHECK(manual_of(user).found_text == "softmax");

    const figure::Rect edge = *user.driver.find("left edge");
    user.driver.drag(edge.x + 3, 500, edge.x + 83, 500);
    REQUIRE(user.view().manual_width);
    CHECK(*user.view().manual_width == Approx(480).margin(2));
    ViewState later;
    read_preferences(preferences_json(user.view()), later);
    CHECK(later.manual_width == user.view().manual_width);
}

TEST_CASE("the context menu of a cell acts on that cell", "[gui][menu]") {
    User user;
    user.act(GoTo{StageGroup::output});
    const CellAddress cell{TensorId::W_O, {5, 1, 0, 0}};
    const float value = user.problem().weights.W_O->at(5, 1);
    REQUIRE(value != 0);
    right_click(user, cell);
    CHECK(user.view().selected == cell);
    CHECK(screen_shows("Copy this number"));
    CHECK_FALSE(screen_shows("Why this score"));
    REQUIRE(user.click("copy number", "##Popup"));
    user.settle();
    CHECK(std::stof(user.driver.clipboard) == value);
    right_click(user, cell);
    key(user, GLFW_KEY_DOWN);
    key(user, GLFW_KEY_DOWN);
    key(user, GLFW_KEY_ENTER);
    CHECK(std::ranges::count(user.driver.clipboard, '\t') == 7);
    right_click(user, cell);
    REQUIRE(user.click("zero", "##Popup"));
    user.settle();
    CHECK(user.problem().weights.W_O->at(5, 1) == 0);
    user.act(GoTo{StageGroup::weights});
    right_click(user, {TensorId::weights, {0, 0, 1, 0}});
    CHECK(screen_shows(
        "Select a number of X, W_Q to W_O or a bias first")); // the reason: it cannot be set to 0
    key(user, GLFW_KEY_ESCAPE);
    CHECK(user.view().selected == CellAddress{TensorId::weights, {0, 0, 1, 0}});
    CHECK_FALSE(user.click("zero", "##Popup"));
}

TEST_CASE("the words beside a matrix have a context menu", "[gui][menu]") {
    const auto press_right = [](User& user, const MenuSubject& token, bool above) {
        const Picture& canvas = user.program.canvas();
        const MatrixGrid& grid = canvas.grids.front();
        const auto word = std::ranges::find_if(canvas.token_words, [&](const TokenWord& one) {
            return one.token == token && (one.area.bottom() <= grid.area.y) == above;
        });
        REQUIRE(word != canvas.token_words.end());
        user.driver.click(word->area.x + word->area.w / 2, word->area.y + word->area.h / 2, 1);
        user.settle();
    };
    {
        User user("first-lesson", "the cat sat down");
        user.act(GoTo{StageGroup::weights});
        press_right(user, {MenuSubject::Kind::token, 2}, false);
        REQUIRE(user.click("row of token", "##Popup"));
        user.settle();
        CHECK(user.view().row == 2);
        user.act(GoTo{StageGroup::weights, 3});
        press_right(user, {MenuSubject::Kind::token, 1}, true);
        REQUIRE(user.click("copy token", "##Popup"));
        user.settle();
        CHECK(user.driver.clipboard == "cat");
        CHECK(user.view().row == 3); // this did not click the row
    }
    // In a text that only has keys, a word is not a query.
    User translation("translation");
    translation.act(GoTo{StageGroup::weights});
    press_right(translation, {MenuSubject::Kind::token, 1, true}, true);
    CHECK(screen_shows("It is not a query of this stage"));
    REQUIRE(translation.click("copy token", "##Popup"));
    translation.settle();
    CHECK(translation.driver.clipboard == translation.problem().kv_tokens[1]);
}

TEST_CASE("the context menus of heads and tokens of a checkpoint act", "[gui][menu]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto& items = screen_items();
    const auto press_right = [&](const std::string& label) {
        const auto item = std::ranges::find_if(
            items, [&](const ScreenItem& one) { return one.label == label && one.reachable(); });
        REQUIRE(item != items.end());
        user.driver.click(item->middle_x(), item->middle_y(), 1);
        user.settle();
    };
    press_right("open L1 H1");
    CHECK(user.view().attention.layer == 1);
    REQUIRE(user.click("copy head name", "##Popup"));
    user.settle();
    CHECK(user.driver.clipboard == "L1 H1");
    press_right("open L0 H1");
    REQUIRE(user.click("effects screen", "##Popup"));
    user.settle();
    CHECK(user.view().attention.screen == Screen::effects);
    user.act(ShowScreen{Screen::stages});
    user.act(ShowTab{LeftTab::predictions});
    press_right("token 2");
    CHECK(user.program.state().model.position == 2);
    REQUIRE(user.click("row of token", "##Popup"));
    user.settle();
    CHECK(user.view().row == 2);
    // The Menu key opens the menu of the head in focus if no number is selected.
    user.act(Select{std::nullopt});
    key(user, GLFW_KEY_F10, GLFW_MOD_SHIFT);
    CHECK(screen_shows("Copy the head’s name"));
}

TEST_CASE("a context menu stays in a small window, and scrolls there", "[gui][menu]") {
    constexpr float width = 1280, height = 400;
    User user("first-lesson", "", width, height, 2);
    user.act(GoTo{StageGroup::weights});
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 1, 0}}});
    key(user, GLFW_KEY_F10, GLFW_MOD_SHIFT);
    const auto rows = [] {
        std::vector<ScreenItem> found;
        for (const ScreenItem& item : screen_items())
            if (item.window.find("##Popup") != std::string::npos && !item.label.empty())
                found.push_back(item);
        return found;
    };
    REQUIRE(rows().size() > 5);
    CHECK(rows().front().clip.y >= 0);
    CHECK(rows().front().clip.bottom() <= height);
    CHECK(rows().front().clip.right() <= width);
    CHECK_FALSE(rows().back().reachable());
    key(user, GLFW_KEY_UP);
    key(user, GLFW_KEY_UP);
    CHECK(std::ranges::any_of(rows().end() - 3, rows().end(), &ScreenItem::reachable));
}

TEST_CASE("in the list of keys no row's keys run into what they do", "[gui][manual]") {
    User user;
    user.act(ShowHelp{true});
    user.driver.wait(2);
    const auto& texts = screen_texts();
    const figure::TextMeasure measure = surface_measure(user.driver.surface());
    int rows = 0;
    for (const KeyLine& line : key_lines(action_context(user.program.state()))) {
        const auto find = [&](const std::string& text) {
            return std::ranges::find(texts, text, &ScreenText::text);
        };
        const auto keys = find(line.keys), what = find(line.what);
        if (keys == texts.end() || what == texts.end())
            continue;
        ++rows;
        INFO(line.keys);
        CHECK(keys->x + measure(line.keys, figure::Font::ui_semibold, 13) < what->x);
    }
    CHECK(rows > 20);
}

} // namespace headscope::test
