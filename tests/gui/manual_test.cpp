#include "app/commands/actions.h"
#include "app/state/preferences.h"
#include "app/views/action_context.h"
#include "app/views/surface.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <string>

// The manual in the window, and context menus, through the real path of keys and mouse.

namespace headscope::test {

using namespace headscope::app;
namespace {

const ManualPanel& manual_of(const Desk& desk) {
    return desk.program.state().manual;
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
void right_click(Desk& desk, const CellAddress& cell) {
    const figure::Point at = middle_of(desk.program.canvas(), cell);
    desk.driver.click(at.x, at.y, 1);
    desk.driver.wait(3);
}

void key(Desk& desk, int which, int held = 0) {
    desk.driver.key(which, held);
    desk.driver.wait(3);
}

} // namespace

TEST_CASE("F1 opens the manual at the stage, again the keys, and Esc closes both", "[gui][manual]") {
    Desk desk;
    desk.act(GoTo{StageGroup::scaled});
    const std::string before = signature(desk.program);
    key(desk, GLFW_KEY_F1);
    REQUIRE(manual_of(desk).open);
    CHECK(manual_of(desk).at == place("stages", "scaled"));
    CHECK(screen_shows("scaled = scores ÷ √dk"));
    CHECK(screen_shows("division"));
    CHECK_FALSE(desk.view().help_open);
    key(desk, GLFW_KEY_F1);
    CHECK(desk.view().help_open);
    CHECK(screen_shows("Stages"));
    key(desk, GLFW_KEY_ESCAPE);
    CHECK_FALSE(desk.view().help_open);
    CHECK(manual_of(desk).open);
    key(desk, GLFW_KEY_ESCAPE);
    CHECK_FALSE(manual_of(desk).open);
    CHECK(signature(desk.program) == before);
}

TEST_CASE("a link of the manual is followed, and Alt Left goes back to where one was", "[gui][manual]") {
    Desk desk;
    desk.act(OpenManual{place("stages", "weights")});
    const float scroll = manual_of(desk).scroll;
    CHECK(scroll > 100);
    desk.press(link_to("effects#what-these-numbers-do-not-say"));
    CHECK(manual_of(desk).at == place("effects", "what-these-numbers-do-not-say"));
    key(desk, GLFW_KEY_LEFT, GLFW_MOD_ALT);
    CHECK(manual_of(desk).at == place("stages", "weights"));
    CHECK(manual_of(desk).scroll == Approx(scroll).margin(1));
    key(desk, GLFW_KEY_RIGHT, GLFW_MOD_ALT);
    CHECK(manual_of(desk).at.page == "effects");
    desk.press("Contents");
    CHECK(screen_shows("Command line"));
    desk.press(link_to("keyboard#"));
    CHECK(manual_of(desk).at == place("keyboard", ""));
}

TEST_CASE("a search of the manual lists places, and Return opens the first one", "[gui][manual]") {
    Desk desk;
    key(desk, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    desk.driver.type("logit lens");
    desk.driver.wait(3);
    CHECK(manual_of(desk).search == "logit lens");
    CHECK(screen_shows("places"));
    CHECK(desk.view().group == StageGroup::weights); // no letter reached the canvas
    key(desk, GLFW_KEY_ENTER);
    CHECK(manual_of(desk).at == place("effects", "logit-lens"));
    CHECK(manual_of(desk).search.empty());
    key(desk, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    desk.driver.type("xyzzy");
    desk.driver.wait(3);
    CHECK(screen_shows("No"));
    key(desk, GLFW_KEY_ESCAPE);
    CHECK(manual_of(desk).search.empty());
    CHECK(manual_of(desk).open);
    key(desk, GLFW_KEY_ESCAPE);
    CHECK_FALSE(manual_of(desk).open);
}

TEST_CASE("a listing of the manual is copied, and the palette finds its headings", "[gui][manual]") {
    Desk desk;
    desk.act(OpenManual{place("stages", "scores")});
    const auto& items = screen_items();
    const auto copy = std::ranges::find_if(items, [](const ScreenItem& one) {
        return one.label.starts_with("copy listing") && one.reachable();
    });
    REQUIRE(copy != items.end());
    desk.press(copy->label);
    CHECK(desk.driver.clipboard == "scores[h][i, j] = q_heads[h][i] · k_heads[h][j]\n");
    key(desk, GLFW_KEY_P, GLFW_MOD_CONTROL);
    desk.driver.type("?path patching");
    desk.driver.wait(3);
    key(desk, GLFW_KEY_ENTER);
    CHECK(manual_of(desk).at.anchor == "path-patching");
    key(desk, GLFW_KEY_P, GLFW_MOD_CONTROL);
    desk.driver.type("zzqq");
    desk.driver.wait(3);
    CHECK(screen_shows("Search the manual for “zzqq”"));
    key(desk, GLFW_KEY_ENTER);
    CHECK(manual_of(desk).search == "zzqq");
}

TEST_CASE("a word of the glossary in the Guide opens the manual", "[gui][manual]") {
    Desk desk;
    desk.act(ShowTab{LeftTab::guide});
    desk.act(GoTo{StageGroup::scores});
    desk.press(link_to("glossary#query"));
    CHECK(manual_of(desk).at == place("glossary", "query"));
}

TEST_CASE("a word of the glossary in the inspector opens the manual", "[gui][manual]") {
    Desk desk;
    desk.act(GoTo{StageGroup::weights});
    desk.act(Select{CellAddress{TensorId::weights, {0, 0, 2, 1}}});
    desk.press(link_to("glossary#softmax"));
    CHECK(manual_of(desk).at == place("glossary", "softmax"));
    key(desk, GLFW_KEY_ESCAPE);
    // Also of a checkpoint's heads.
    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    desk.act(ShowScreen{Screen::effects});
    const auto& items = screen_items();
    CHECK(std::ranges::any_of(items, [](const ScreenItem& one) {
        return one.window.find("inspector") != std::string::npos &&
               one.label.find(" glossary#") != std::string::npos;
    }));
}

TEST_CASE("the manual is searched once for each text, and keeps its width", "[gui][manual]") {
    Desk desk;
    key(desk, GLFW_KEY_F1, GLFW_MOD_SHIFT);
    desk.driver.type("soft");
    desk.driver.wait(3);
    const auto found = manual_of(desk).found;
    REQUIRE(found != nullptr);
    CHECK_FALSE(found->empty());
    desk.driver.wait(5);
    CHECK(manual_of(desk).found == found);
    desk.driver.type("max");
    desk.driver.wait(3);
    CHECK(manual_of(desk).found != found);
    CHECK(manual_of(desk).found_text == "softmax");

    const figure::Rect edge = *desk.driver.find("left edge");
    desk.driver.drag(edge.x + 3, 500, edge.x + 83, 500);
    REQUIRE(desk.view().manual_width);
    CHECK(*desk.view().manual_width == Approx(480).margin(2));
    ViewState later;
    read_preferences(preferences_json(desk.view()), later);
    CHECK(later.manual_width == desk.view().manual_width);
}

TEST_CASE("the context menu of a cell acts on that cell", "[gui][menu]") {
    Desk desk;
    desk.act(GoTo{StageGroup::output});
    const CellAddress cell{TensorId::W_O, {5, 1, 0, 0}};
    const float value = desk.problem().weights.W_O->at(5, 1);
    REQUIRE(value != 0);
    right_click(desk, cell);
    CHECK(desk.view().selected == cell);
    CHECK(screen_shows("Copy this number"));
    CHECK_FALSE(screen_shows("Why this score"));
    REQUIRE(desk.click("copy number", "##Popup"));
    desk.settle();
    CHECK(std::stof(desk.driver.clipboard) == value);
    right_click(desk, cell);
    key(desk, GLFW_KEY_DOWN);
    key(desk, GLFW_KEY_DOWN);
    key(desk, GLFW_KEY_ENTER);
    CHECK(std::ranges::count(desk.driver.clipboard, '\t') == 7);
    right_click(desk, cell);
    REQUIRE(desk.click("zero", "##Popup"));
    desk.settle();
    CHECK(desk.problem().weights.W_O->at(5, 1) == 0);
    desk.act(GoTo{StageGroup::weights});
    right_click(desk, {TensorId::weights, {0, 0, 1, 0}});
    CHECK(screen_shows(
        "Select a number of X, W_Q to W_O or a bias first")); // the reason: it cannot be set to 0
    key(desk, GLFW_KEY_ESCAPE);
    CHECK(desk.view().selected == CellAddress{TensorId::weights, {0, 0, 1, 0}});
    CHECK_FALSE(desk.click("zero", "##Popup"));
}

TEST_CASE("the words beside a matrix have a context menu", "[gui][menu]") {
    const auto press_right = [](Desk& desk, const MenuSubject& token, bool above) {
        const Picture& canvas = desk.program.canvas();
        const MatrixGrid& grid = canvas.grids.front();
        const auto word = std::ranges::find_if(canvas.token_words, [&](const TokenWord& one) {
            return one.token == token && (one.area.bottom() <= grid.area.y) == above;
        });
        REQUIRE(word != canvas.token_words.end());
        desk.driver.click(word->area.x + word->area.w / 2, word->area.y + word->area.h / 2, 1);
        desk.settle();
    };
    {
        Desk desk("first-lesson", "the cat sat down");
        desk.act(GoTo{StageGroup::weights});
        press_right(desk, {MenuSubject::Kind::token, 2}, false);
        REQUIRE(desk.click("row of token", "##Popup"));
        desk.settle();
        CHECK(desk.view().row == 2);
        desk.act(GoTo{StageGroup::weights, 3});
        press_right(desk, {MenuSubject::Kind::token, 1}, true);
        REQUIRE(desk.click("copy token", "##Popup"));
        desk.settle();
        CHECK(desk.driver.clipboard == "cat");
        CHECK(desk.view().row == 3); // this did not click the row
    }
    // In a text that only has keys, a word is not a query.
    Desk translation("translation");
    translation.act(GoTo{StageGroup::weights});
    press_right(translation, {MenuSubject::Kind::token, 1, true}, true);
    CHECK(screen_shows("It is not a query of this stage"));
    REQUIRE(translation.click("copy token", "##Popup"));
    translation.settle();
    CHECK(translation.driver.clipboard == translation.problem().kv_tokens[1]);
}

TEST_CASE("the context menus of heads and tokens of a checkpoint act", "[gui][menu]") {
    Desk desk;
    desk.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const auto& items = screen_items();
    const auto press_right = [&](const std::string& label) {
        const auto item = std::ranges::find_if(
            items, [&](const ScreenItem& one) { return one.label == label && one.reachable(); });
        REQUIRE(item != items.end());
        desk.driver.click(item->middle_x(), item->middle_y(), 1);
        desk.settle();
    };
    press_right("open L1 H1");
    CHECK(desk.view().attention.layer == 1);
    REQUIRE(desk.click("copy head name", "##Popup"));
    desk.settle();
    CHECK(desk.driver.clipboard == "L1 H1");
    press_right("open L0 H1");
    REQUIRE(desk.click("effects screen", "##Popup"));
    desk.settle();
    CHECK(desk.view().attention.screen == Screen::effects);
    desk.act(ShowScreen{Screen::stages});
    desk.act(ShowTab{LeftTab::predictions});
    press_right("token 2");
    CHECK(desk.program.state().model.position == 2);
    REQUIRE(desk.click("row of token", "##Popup"));
    desk.settle();
    CHECK(desk.view().row == 2);
    // The Menu key opens the menu of the head in focus if no number is selected.
    desk.act(Select{std::nullopt});
    key(desk, GLFW_KEY_F10, GLFW_MOD_SHIFT);
    CHECK(screen_shows("Copy the head’s name"));
}

TEST_CASE("a context menu stays in a small window, and scrolls there", "[gui][menu]") {
    constexpr float width = 1280, height = 400;
    Desk desk("first-lesson", "", width, height, 2);
    desk.act(GoTo{StageGroup::weights});
    desk.act(Select{CellAddress{TensorId::weights, {0, 0, 1, 0}}});
    key(desk, GLFW_KEY_F10, GLFW_MOD_SHIFT);
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
    key(desk, GLFW_KEY_UP);
    key(desk, GLFW_KEY_UP);
    CHECK(std::ranges::any_of(rows().end() - 3, rows().end(), &ScreenItem::reachable));
}

TEST_CASE("in the list of keys no row's keys run into what they do", "[gui][manual]") {
    Desk desk;
    desk.act(ShowHelp{true});
    desk.driver.wait(2);
    const auto& texts = screen_texts();
    const figure::TextMeasure measure = surface_measure(desk.driver.surface());
    int rows = 0;
    for (const KeyLine& line : key_lines(action_context(desk.program.state()))) {
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
