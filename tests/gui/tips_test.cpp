#include "app/draw/pages/stage_figure.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <optional>

// The words that appear under the mouse.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::optional<figure::Rect> control_area(const std::string& label) {
    const auto found = std::ranges::find(screen_items(), label, &ScreenItem::label);
    return found == screen_items().end() ? std::nullopt : std::optional(found->area);
}

/// The tooltip that is on screen, in pixels.
std::optional<figure::Rect> tip_on_screen() {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0)
            return figure::Rect{window->Pos.x, window->Pos.y, window->Size.x, window->Size.y};
    return std::nullopt;
}

/// Returns the tip that appears with the mouse on a control, at a fraction of its width.
std::optional<figure::Rect> tip_at(User& user, const figure::Rect& control, float across = 0.5F) {
    user.driver.move(control.x + across * control.w, control.y + control.h / 2);
    user.driver.wait(4);
    return tip_on_screen();
}

bool areas_overlap(const figure::Rect& a, const figure::Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

} // namespace

TEST_CASE("what is said of a control leaves the controls beside it in sight", "[gui][tips][model]") {
    const auto [width, height] = GENERATE(std::pair(1600.0F, 1000.0F), std::pair(1280.0F, 720.0F));
    User user("first-lesson", "", width, height);
    user.open(checkpoint::model_folder("pocket"), "The cat sat down and");
    for (const auto& [pointed, beside] : {std::pair("Step", "Run"), {"Run", "Step"}}) {
        const auto one = control_area(pointed), other = control_area(beside);
        REQUIRE(one);
        REQUIRE(other);
        for (const float across : {0.2F, 0.5F, 0.9F}) {
            user.driver.move(1, 1);
            user.driver.wait(3);
            const auto tip = tip_at(user, *one, across);
            INFO(pointed);
            REQUIRE(tip);
            CHECK_FALSE(areas_overlap(*tip, *one));
            CHECK_FALSE(areas_overlap(*tip, *other));
            CHECK(tip->x >= 0);
            CHECK(tip->right() <= width);
        }
    }
    // At the foot of the window there is room above alone.
    const auto play = control_area("play");
    REQUIRE(play);
    const auto tip = tip_at(user, *play);
    REQUIRE(tip);
    CHECK_FALSE(areas_overlap(*tip, *play));
    CHECK(tip->bottom() <= height);
}

TEST_CASE("the right button on a head's title opens its menu, and letters below maps are told",
          "[gui][tips][model]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    begin_recording();
    user.settle();
    const auto title = control_area("head 1 by its title");
    REQUIRE(title);
    user.driver.click(title->x + title->w / 2, title->y + title->h / 2, 1);
    user.settle();
    CHECK(user.view().head == 1);
    CHECK(screen_shows("Copy the head’s name"));

    user.open(checkpoint::model_folder("pocket"), "The cat sat down and");
    user.act(GoTo{StageGroup::weights});
    CHECK(screen_shows("F first token"));
    end_recording();
}

TEST_CASE("a figure outlines the cell that was selected, and none that nobody chose", "[gui][tips]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    const StageFigure size{.width = 900, .height = 600};
    const auto bold = [](const figure::Scene& scene, const std::string& word) {
        return std::ranges::count_if(scene.items, [&](const figure::SceneItem& item) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->text == word && text->font == figure::Font::ui_semibold;
        });
    };
    user.act(ShowWeightsAs{WeightsView::heatmap});
    const figure::Scene plain = stage_scene(user.shown(), user.view(), size);
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 2, 1}}});
    const figure::Scene chosen = stage_scene(user.shown(), user.view(), size);
    CHECK(chosen.items.size() >= plain.items.size() + 4);
    CHECK(bold(chosen, "cat") > bold(plain, "cat")); // as the word of a column
}

TEST_CASE("the lines of a tip stand apart", "[gui][tips][model]") {
    User user("first-lesson", "", 1280, 720);
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop");
    const auto head = control_area("open L2 H7");
    REQUIRE(head);
    const auto tip = tip_at(user, *head);
    REQUIRE(tip);
    constexpr float lines = 5, text = 13, apart = 4;
    CHECK(tip->h >= lines * text + (lines - 1) * apart);
}

TEST_CASE("a field that says what is wrong has no tip behind that", "[gui][tips]") {
    User user;
    user.act(ShowTab{LeftTab::edit});
    const auto field = control_area("##gain 1 value");
    REQUIRE(field);
    user.driver.move(field->x + 5, field->y + 5);
    user.driver.wait(4);
    CHECK(tip_on_screen());
    REQUIRE(user.click("##gain 1 value"));
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type("abc");
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(4);
    REQUIRE_FALSE(user.program.state().field.error.empty());
    CHECK_FALSE(tip_on_screen());
}

} // namespace headscope::test
