#include "app/draw/pages/links.h"
#include "tests/app/support/weights_fixture.h"
#include "tests/catch.h"

#include <map>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

std::vector<figure::CurveItem> curves_of(const Picture& picture) {
    std::vector<figure::CurveItem> out;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* curve = std::get_if<figure::CurveItem>(&item))
            out.push_back(*curve);
    return out;
}

} // namespace

TEST_CASE("lines are wider for larger weights, from 0.8 to 4", "[weights]") {
    CHECK(link_width(0, 1) == Approx(0.8F));
    CHECK(link_width(1, 1) == Approx(4));
    CHECK(link_width(-1, 1) == Approx(4));
    for (float w = 0; w < 0.99F; w += 0.01F)
        CHECK(link_width(w, 1) < link_width(w + 0.01F, 1));

    const Shown shown = WeightsFixture{}.make();
    for (const WeightsView as : {WeightsView::arcs, WeightsView::graph}) {
        const ViewState view = weights_view(as);
        const DrawContext context{shown, view, theme(false), rough_measure, 960, 848};
        const FigureWeights reading(context, HeadsView::each, 0);
        // The same links drawn separately: faint ones first, then those of the current row.
        std::vector<Link> links = links_of(reading, 2);
        std::ranges::stable_sort(links, {}, &Link::in_focused_row);
        const auto curves = curves_of(draw_page(shown, view));
        REQUIRE(curves.size() >= links.size());
        for (std::size_t a = 0; a < links.size(); ++a)
            for (std::size_t b = 0; b < links.size(); ++b)
                if (links[a].value < links[b].value)
                    CHECK(curves[a].width < curves[b].width);
    }
}

TEST_CASE("lines are drawn for the weights that reach the threshold, never for masked ones", "[weights]") {
    WeightsFixture fixture;
    fixture.queries = WeightsFixture::sentence(12);
    fixture.causal = true;
    fixture.masked_query = 4;
    const Shown shown = fixture.make();
    const ViewState view = weights_view(WeightsView::arcs);
    const DrawContext context{shown, view, theme(false), rough_measure, 960, 848};
    const FigureWeights reading(context, HeadsView::each, 1);
    const LinkThresholds least = link_thresholds(context.dims());
    std::map<std::pair<std::int64_t, std::int64_t>, Link> drawn;
    for (const Link& link : links_of(reading, 7))
        CHECK(drawn.insert({{link.i, link.j}, link}).second);
    for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t j = 0; j < 12; ++j) {
            const float weight = shown.value({TensorId::weights, {0, 1, i, j}});
            const bool expected = i != 4 && j <= i && weight >= (i == 7 ? least.focused : least.others);
            INFO(i << ", " << j << ": " << weight);
            REQUIRE((drawn.contains({i, j})) == expected);
            if (expected) {
                const Link& link = drawn.at({i, j});
                CHECK(link.value == weight);
                CHECK(link.in_focused_row == (i == 7));
            }
        }
}

TEST_CASE("a row that reads all keys alike keeps its lines, however long the sentence", "[weights]") {
    for (const std::size_t T : {1U, 2U, 3U, 7U, 10U, 11U, 20U, 33U, 50U, 64U}) {
        WeightsFixture fixture;
        fixture.queries = WeightsFixture::sentence(T);
        fixture.score = [](std::int64_t, std::int64_t, std::int64_t) { return 0.0; };
        const Shown shown = fixture.make();
        const ViewState view = weights_view(WeightsView::arcs);
        const DrawContext context{shown, view, theme(false), rough_measure, 960, 848};
        const auto links = links_of(FigureWeights(context, HeadsView::each, 0), 0);
        INFO("T " << T);
        CHECK(std::ranges::count(links, true, &Link::in_focused_row) == static_cast<std::ptrdiff_t>(T));
    }
}

TEST_CASE("the page says which weights have lines", "[weights]") {
    for (const auto& [T, said] : {std::pair<std::size_t, std::string>{4, "weights of 0.10 and more"},
                                  {20, "weights of 0.05 and more for"},
                                  {64, "weights of 0.01 and more for"}}) {
        WeightsFixture fixture;
        fixture.queries = WeightsFixture::sentence(T);
        const Shown shown = fixture.make();
        for (const WeightsView as : {WeightsView::arcs, WeightsView::graph}) {
            const Picture picture = draw_page(shown, weights_view(as));
            CHECK(std::ranges::any_of(picture.scene.items, [&, part = said](const figure::SceneItem& item) {
                const auto* text = std::get_if<figure::TextItem>(&item);
                return text != nullptr && text->text.starts_with(part);
            }));
        }
    }
}

TEST_CASE("a hovered line stays under the pointer when its row becomes the one spoken of", "[weights]") {
    for (const std::size_t T : {4U, 12U, 24U})
        for (const WeightsView as : {WeightsView::arcs, WeightsView::graph}) {
            WeightsFixture fixture;
            fixture.H = 1;
            fixture.queries = WeightsFixture::sentence(T);
            const Shown shown = fixture.make();
            const ViewState view = weights_view(as);
            const Picture before = draw_page(shown, view);
            int followed = 0;
            for (const MatrixGrid& grid : before.grids) {
                const float x = grid.area.x + grid.area.w / 2, y = grid.area.y + grid.area.h / 2;
                // Where several weights overlap, any of them may be the hovered one.
                if (std::ranges::count_if(
                        before.grids, [&](const MatrixGrid& other) { return other.area.contains(x, y); }) > 1)
                    continue;
                ViewState hovering = view;
                hovering.hover = grid.at(x, y);
                const Picture after = draw_page(shown, hovering);
                CHECK(std::ranges::any_of(
                    after.grids, [&](const MatrixGrid& other) { return other.at(x, y) == hovering.hover; }));
                ++followed;
            }
            CHECK(followed > static_cast<int>(T));
        }
}

TEST_CASE("rows that are still to come have no lines while rows are stepped through", "[weights]") {
    const Shown shown = WeightsFixture{}.make();
    ViewState view = weights_view(WeightsView::arcs);
    view.row = 1;
    const DrawContext context{shown, view, theme(false), rough_measure, 960, 848};
    CHECK(focused_cell(context).row == 1);
    bool first = false;
    for (const Link& link : links_of(FigureWeights(context, HeadsView::each, 0), 1)) {
        CHECK(link.i <= 1);
        first = first || link.i == 0;
    }
    CHECK(first);
}

TEST_CASE("the two signs of a difference have the two ends of the diverging colours", "[weights]") {
    const Shown shown = WeightsFixture{}.make();
    for (const bool dark : {false, true}) {
        ViewState view = weights_view(WeightsView::arcs);
        view.dark = dark;
        view.heads_view = HeadsView::difference;
        const DrawContext context{shown, view, theme(dark), rough_measure, 960, 848};
        const FigureWeights reading = focused_figure_weights(context);
        CHECK(reading.line_color(0.5F) == theme(dark).diverging.back());
        CHECK(reading.line_color(-0.5F) == theme(dark).diverging.front());
        bool positive = false, negative = false;
        for (const Link& link : links_of(reading, 2)) {
            CHECK(link.value == Approx(shown.value({TensorId::weights, {0, 0, link.i, link.j}}) -
                                       shown.value({TensorId::weights, {0, 1, link.i, link.j}})));
            positive = positive || link.value > 0;
            negative = negative || link.value < 0;
        }
        CHECK(positive);
        CHECK(negative);
    }
}
