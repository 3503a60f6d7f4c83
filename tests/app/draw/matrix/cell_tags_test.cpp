#include "app/draw/matrix/cell_tags.h"

#include "app/draw/kit/free_space.h"
#include "app/draw/matrix/matrix.h"
#include "tests/app/support/weights_fixture.h"
#include "tests/catch.h"

#include <cmath>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

lesson::CellRange one_weight(std::int64_t head, std::int64_t i, std::int64_t j) {
    return {TensorId::weights, {0, head, i, j}, {1, 1, 1, 1}};
}

Picture draw_tagged(const Shown& shown, const ViewState& view, float width, float height) {
    const DrawContext context{shown, view, theme(false), rough_measure, width, height};
    Picture picture = draw_heatmap_page(context);
    draw_cell_tags(picture, context);
    return picture;
}

std::vector<figure::TextItem> texts_of(const Picture& picture) {
    std::vector<figure::TextItem> out;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            out.push_back(*text);
    return out;
}

/// Returns the area of an upright line of text.
figure::Rect area_of(const figure::TextItem& text) {
    const float width = rough_measure(text.text, text.font, text.size);
    const float left = text.align == figure::Align::left     ? 0
                       : text.align == figure::Align::center ? width / 2
                                                             : width;
    return {text.at.x - left, text.at.y - 0.7F * text.size, width, 0.7F * text.size};
}

bool numbers_with_two_decimals(const Picture& picture, const MatrixGrid& grid) {
    return std::ranges::any_of(texts_of(picture), [&](const figure::TextItem& text) {
        const bool in_tag = std::ranges::any_of(
            picture.tags, [&](const CellTag& tag) { return tag.area.contains(text.at.x, text.at.y); });
        return !in_tag && grid.area.contains(text.at.x, text.at.y) &&
               text.text.size() == std::string("0.00").size();
    });
}

} // namespace

TEST_CASE("the number beside a cell that a lesson points at hides nothing", "[weights][tags]") {
    for (const std::size_t T : {6U, 9U, 12U, 15U, 24U})
        for (const std::int64_t H : {1, 2, 8})
            for (const bool small : {false, true}) {
                WeightsFixture fixture;
                fixture.H = H;
                fixture.queries = WeightsFixture::sentence(T);
                const Shown shown = fixture.make();
                ViewState view = weights_view(WeightsView::heatmap);
                const auto last = static_cast<std::int64_t>(T) - 1;
                for (const auto& [i, j] :
                     {std::pair<std::int64_t, std::int64_t>{0, 0}, {2, 1}, {2, 3}, {last, last}, {last, 0}})
                    view.points.push_back(one_weight(H - 1, i, j));
                view.head = H - 1;
                const float width = small ? 640 : 960, height = small ? 568 : 848;
                const Picture picture = draw_tagged(shown, view, width, height);
                INFO("T " << T << ", H " << H << ", width " << width);
                // Each is readable: in a cell with two decimals, or in a tag.
                const bool printed = std::ranges::any_of(picture.grids, [&](const MatrixGrid& grid) {
                    return grid.origin[1] == H - 1 && numbers_with_two_decimals(picture, grid);
                });
                CHECK(picture.tags.size() == (printed ? 0 : view.points.size()));
                for (const CellTag& tag : picture.tags) {
                    for (const figure::TextItem& text : texts_of(picture))
                        if (text.angle == 0 && overlap(tag.area, area_of(text)) &&
                            !tag.area.contains(text.at.x, text.at.y))
                            FAIL_CHECK("the tag at " << tag.area.x << ", " << tag.area.y << " hides \""
                                                     << text.text << "\"");
                    for (const CellTag& other : picture.tags)
                        CHECK((other.cell == tag.cell || !overlap(tag.area, other.area)));
                    for (const MatrixGrid& grid : picture.grids)
                        for (const lesson::CellRange& cells : view.points)
                            if (const auto part = pointed_part(grid, cells))
                                CHECK_FALSE(overlap(tag.area, grid.cell(part->top, part->left)));
                }
            }
}

TEST_CASE("a masked cell has no tag", "[weights][tags]") {
    WeightsFixture fixture;
    fixture.queries = WeightsFixture::sentence(15);
    fixture.causal = true;
    const Shown shown = fixture.make();
    ViewState view = weights_view(WeightsView::heatmap);
    view.points = {one_weight(0, 2, 9)};
    CHECK(draw_tagged(shown, view, 640, 568).tags.empty());
    view.points = {one_weight(0, 9, 2)};
    CHECK(draw_tagged(shown, view, 640, 568).tags.size() == 1);
}

TEST_CASE("maps make room for two decimals where the canvas has it", "[weights]") {
    WeightsFixture fixture;
    const auto precise = [&](std::size_t T, std::int64_t H, float width, float height) {
        fixture.H = H;
        fixture.queries = WeightsFixture::sentence(T);
        const Shown shown = fixture.make();
        const Picture picture = draw_tagged(shown, weights_view(WeightsView::heatmap), width, height);
        return std::ranges::all_of(picture.grids, [&](const MatrixGrid& grid) {
            return !grid.outlined || numbers_with_two_decimals(picture, grid);
        });
    };
    CHECK(precise(4, 4, 640, 568)); // maps in two lines: wider than high
    CHECK(precise(6, 2, 640, 568)); // one map above the other
    CHECK(precise(4, 8, 960, 848));
    CHECK(precise(15, 2, 960, 848)); // the small maps next to it are dropped first
}

TEST_CASE("rows that a lesson points at keep their label, and neighbours give way", "[weights]") {
    WeightsFixture fixture;
    fixture.queries = WeightsFixture::sentence(12);
    const Shown shown = fixture.make();
    for (std::int64_t row = 0; row < 12; ++row) {
        ViewState view = weights_view(WeightsView::heatmap);
        view.points = {{TensorId::weights, {0, 0, row, 0}, {1, 1, 1, 12}}};
        const DrawContext context{shown, view, theme(false), rough_measure, 640, 568};
        Picture picture;
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = TensorId::weights,
                                             .row_axis = 2,
                                             .col_axis = 3,
                                             .rows = 12,
                                             .cols = 12,
                                             .x = 100,
                                             .y = 50,
                                             .cell_w = 8,
                                             .cell_h = 8,
                                             .fill = CellFill::diverging});
        picture.scene.items.clear();
        draw_row_labels(picture, context, grid, false);
        const figure::Rect pointed = grid.cell(row, 0);
        const auto texts = texts_of(picture);
        INFO("row " << row);
        CHECK(std::ranges::any_of(texts, [&](const figure::TextItem& text) {
            return pointed.y < text.at.y && text.at.y < pointed.bottom() + 4 &&
                   text.text == fixture.queries[static_cast<std::size_t>(row)];
        }));
        for (std::size_t n = 1; n < texts.size(); ++n)
            CHECK(std::abs(texts[n].at.y - texts[n - 1].at.y) >= 13);
    }
}
