#include "tests/gui/support/driver.h"

#include "app/shell/input_queue.h"
#include "app/views/controls/items.h"
#include "tests/catch.h"

#include <GLFW/glfw3.h>

#include <string>

namespace headscope::test {

using namespace headscope::app;
namespace {

struct SmallUi final : Ui {
    int clicks = 0, doubles = 0, steps = 0, letters = 0;
    float value = 0;
    std::string text;
    bool save = false;
    bool hovered = false, has_field = true;

    void frame(Surface& surface, double) override {
        surface.need_glyphs(text);
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({600, 400});
        ImGui::Begin("Main", nullptr, ImGuiWindowFlags_NoDecoration);
        clicks += invisible_button("Run##b", {60, 20}, surface);
        hovered = ImGui::IsItemHovered();
        doubles += ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0);
        ImGui::PushID("row");
        ImGui::SliderFloat("gain", &value, 0, 2);
        surface.observer()->item("gain");
        ImGui::PopID();
        if (has_field)
            input_text("sentence", "", text, 0, nullptr, nullptr, surface);
        steps += glfw_key_pressed(GLFW_KEY_RIGHT, false);
        letters += glfw_key_pressed(GLFW_KEY_L, false);
        save = save || (ImGui::GetIO().KeyCtrl && glfw_key_pressed(GLFW_KEY_S, false));
        ImGui::End();
    }
    bool animating() const override { return false; }
    float zoom() const override { return 1; }
    figure::Color background() const override { return figure::rgb(0xFFFFFF); }
    std::string title() const override { return "small"; }
    bool quitting() const override { return false; }
};

} // namespace

TEST_CASE("the driver clicks, drags, types and presses keys", "[gui]") {
    SmallUi ui;
    Driver driver(ui);

    REQUIRE(driver.click_item("Run##b"));
    CHECK(ui.clicks == 1);
    CHECK(ui.hovered);
    CHECK_FALSE(driver.find("nowhere"));
    CHECK(driver.find("Main/row/gain"));

    const figure::Rect button = *driver.find("Main/Run##b");
    driver.wait(60);
    driver.double_click(button.x + 5, button.y + 5);
    CHECK(ui.clicks == 3);
    CHECK(ui.doubles == 1);

    const figure::Rect slider = *driver.find("row/gain");
    driver.drag(slider.x + 10, slider.y + 5, slider.right() + 50, slider.y + 5);
    CHECK(ui.value == 2);

    REQUIRE(driver.click_item("sentence"));
    driver.type("Tëst Ж");
    CHECK(ui.text == "Tëst Ж");
    driver.key(GLFW_KEY_BACKSPACE);
    CHECK(ui.text == "Tëst ");
    driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    driver.key(GLFW_KEY_C, GLFW_MOD_CONTROL);
    CHECK(driver.clipboard == "Tëst ");

    driver.key(GLFW_KEY_ESCAPE);
    driver.key(GLFW_KEY_RIGHT);
    driver.key(GLFW_KEY_RIGHT);
    CHECK(ui.steps == 2);
    driver.key(GLFW_KEY_S, GLFW_MOD_CONTROL);
    CHECK(ui.save);
}

TEST_CASE("a key in the frame after a field is gone is not taken for text", "[gui]") {
    SmallUi ui;
    Driver driver(ui);
    REQUIRE(driver.click_item("sentence"));
    ui.has_field = false;
    driver.wait(); // the first picture without the field
    driver.key(GLFW_KEY_L);
    CHECK(ui.letters == 1);
}

TEST_CASE("glyphs that a text needs are there from the next frame on", "[gui]") {
    SmallUi ui;
    Driver driver(ui);
    FontBook& fonts = driver.surface().fonts();
    REQUIRE_FALSE(fonts.has(U'Գ'));
    ui.text = "Գ";
    driver.wait(2);
    CHECK(fonts.has(U'Գ'));
    CHECK(driver.surface().font(figure::Font::ui, 13)->FindGlyphNoFallback(0x533) != nullptr);
}

} // namespace headscope::test
