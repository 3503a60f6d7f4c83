#include "app/draw/manual/manual_panel.h"

#include "app/draw/kit/controls.h"
#include "core/manual/manual.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("every stop and every screen has a place in the manual", "[manual]") {
    const Shown shown = make_shown({});
    ViewState view;
    for (int step = 0; step < stop_count; ++step) {
        view.group = static_cast<StageGroup>(step);
        INFO(group_info(view.group).label);
        const manual::Place place = manual_place_of_screen(shown, view);
        CHECK(place.page == "stages");
        CHECK_FALSE(place.anchor.empty());
        CHECK(manual::find_section(place) != nullptr);
    }
    view.attention.screen = Screen::atlas;
    CHECK(manual_place_of_screen(shown, view) == manual::Place{"atlas", ""});
}

TEST_CASE("no text of the manual is wider than its panel", "[manual]") {
    const Shown shown = make_shown({});
    const ViewState view;
    const figure::TextMeasure measure = approximate_measure();
    const float width = GENERATE(280.0F, 312.0F, 720.0F);
    const DrawContext context{
        .shown = shown, .view = view, .theme = theme(false), .measure = measure, .width = width};
    for (const manual::Page& page : manual::pages()) {
        ManualPanel panel;
        panel.at = {page.name, page.sections.back().anchor};
        const Picture picture = draw_manual(context, panel);
        CHECK(picture.pointed_area.y > 0);
        for (const figure::SceneItem& item : picture.scene.items) {
            const auto* text = std::get_if<figure::TextItem>(&item);
            if (text == nullptr)
                continue;
            INFO(page.name << ": " << text->text);
            const float length = measure(text->text, text->font, text->size);
            const float right = text->align == figure::Align::right ? text->at.x : text->at.x + length;
            CHECK(right <= width - manual_pad + 8); // punctuation may stand out
            CHECK(text->at.x >= manual_pad);
        }
    }
}

TEST_CASE("the manual goes back and forth with the place of the page", "[manual]") {
    ManualPanel panel;
    open_manual(panel, {"stages", "weights"});
    CHECK(panel.open);
    CHECK(panel.back.empty());
    panel.scroll = 250;
    open_manual(panel, {"effects", "logit-lens"});
    step_manual(panel, -1);
    CHECK(panel.at == manual::Place{"stages", "weights"});
    CHECK(panel.scroll_to == 250.0F);
    step_manual(panel, -1);
    CHECK(panel.at == manual::Place{"stages", "weights"});
    step_manual(panel, 1);
    CHECK(panel.at == manual::Place{"effects", "logit-lens"});
    CHECK_THROWS(open_manual(panel, {"effects", "no-such-heading"}));
    step_manual(panel, -1);
    open_manual(panel, {});
    CHECK(panel.forward.empty());
    CHECK(breadcrumb(panel) == "Contents");
}

} // namespace headscope::test
