#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/pages.h"
#include "app/draw/panels/compare_panels.h"
#include "app/draw/panels/panels.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr float page_width = 1200, page_height = 900;

/// A and B of the same sizes with other numbers, and their pages.
struct Pair {
    explicit Pair(const Wish& first, const Wish& second) : a(make_shown(first)), b(make_shown(second)) {
        compare.mark(a, "as built");
        compare.follow(b, 0, StageGroup::output);
    }
    explicit Pair(Wish wish)
        : Pair(wish, [&] {
              Wish other = wish;
              ++other.seed;
              return other;
          }()) {}

    Picture page(StageGroup group, bool numbers = true) {
        view.group = group;
        view.numbers = numbers;
        view.compare = Compare::difference;
        return draw_canvas({compare.difference(group),
                            view,
                            theme(view.dark),
                            measure,
                            page_width,
                            page_height,
                            true,
                            {},
                            0,
                            &compare,
                            Compare::difference});
    }
    DrawContext panel(Compare showing = Compare::now) {
        return {showing == Compare::baseline ? a : b,
                view,
                theme(view.dark),
                measure,
                312,
                800,
                true,
                {},
                0,
                &compare,
                showing};
    }

    Shown a, b;
    Comparison compare;
    ViewState view;
    figure::TextMeasure measure = approximate_measure();
};

const figure::TextItem* text_in(const Picture& picture, const figure::Rect& cell) {
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            if (text->align == figure::Align::center &&
                std::abs(text->at.x - (cell.x + cell.w / 2)) < 0.01F && text->at.y > cell.y &&
                text->at.y < cell.bottom())
                return text;
    return nullptr;
}

const figure::RectItem* fill_of(const Picture& picture, const figure::Rect& cell) {
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* rect = std::get_if<figure::RectItem>(&item))
            if (rect->area == cell && rect->fill >> 24 != 0)
                return rect;
    return nullptr;
}

bool is_result(TensorId id, StageGroup group) {
    return std::ranges::find(results_of(group), id) != results_of(group).end();
}

} // namespace

TEST_CASE("every page shows B − A with signs on the diverging map, and factors as they are in B",
          "[compare]") {
    for (int g = 0; g < group_count; ++g) {
        const auto group = static_cast<StageGroup>(g);
        Pair pair{Wish{}};
        const Picture picture = pair.page(group);
        int results = 0, printed = 0;
        for (const MatrixGrid& grid : picture.grids) {
            const bool result = is_result(grid.tensor, group);
            // head_out is a result where it is made, and a factor where it is used.
            INFO(group_info(group).label << " " << tensor_info(grid.tensor).name);
            CHECK(grid.shows_own_values == !result);
            results += result ? 1 : 0;
            if (result) {
                CHECK(grid.map == "diverging");
                CHECK(grid.low == -grid.high);
            }
            for (std::int64_t row = 0; row < grid.rows; ++row)
                for (std::int64_t col = 0; col < grid.cols; ++col) {
                    const CellAddress cell{grid.tensor, grid.index(row, col)};
                    const float b = pair.b.value(cell), change = b - pair.a.value(cell);
                    const figure::TextItem* text = text_in(picture, grid.cell(row, col));
                    if (text != nullptr) {
                        const auto point = text->text.find('.');
                        const int decimals =
                            point == std::string::npos ? 0 : static_cast<int>(text->text.size() - point - 1);
                        CHECK(text->text == (!result       ? number(b, decimals)
                                             : change == 0 ? "·"
                                                           : signed_number(change, decimals)));
                        ++printed;
                    }
                    if (result) {
                        const figure::RectItem* fill = fill_of(picture, grid.cell(row, col));
                        REQUIRE(fill != nullptr);
                        CHECK(fill->fill ==
                              ramp_color(theme(false).diverging, 0.5F + 0.5F * change / grid.high));
                    }
                }
        }
        CHECK(results > 0);
        CHECK(printed > 8);
    }
}

TEST_CASE("a page's scale ends at its largest change, rounded up to a tenth", "[compare]") {
    CHECK(symmetric_end(0.88F) == Approx(0.9F));
    CHECK(symmetric_end(0.9F) == Approx(0.9F));
    CHECK(symmetric_end(3.41F) == Approx(3.5F));
    CHECK(symmetric_end(0.012F) == Approx(0.02F));
    CHECK(symmetric_end(0) == Approx(0.1F));
    Pair pair{Wish{}};
    float largest = 0;
    for (const TensorId id : {TensorId::contributions, TensorId::output})
        for (std::int64_t i = 0; i < pair.a.tensor(id)->count(); ++i)
            largest =
                std::max(largest, std::abs(pair.b.tensor(id)->data()[i] - pair.a.tensor(id)->data()[i]));
    CHECK(pair.compare.limit(StageGroup::output) == symmetric_end(largest));
}

TEST_CASE("a small change is printed with the digits that show it", "[compare]") {
    const Shown a = make_shown(Wish{});
    Shown b = a;
    Tensor output(a.tensor(TensorId::output)->shape(), a.tensor(TensorId::output)->values());
    output.at(0, 1, 2) += 0.0042F;
    auto trace = std::make_shared<Trace>(*a.trace);
    trace->slot(TensorId::output) = std::make_shared<const Tensor>(std::move(output));
    b.trace = trace;
    Comparison compare;
    compare.mark(a, "as built");
    compare.follow(b, 0, StageGroup::output);
    ViewState view;
    view.group = StageGroup::output;
    const figure::TextMeasure measure = approximate_measure();
    const Picture picture = draw_canvas({compare.difference(StageGroup::output),
                                         view,
                                         theme(false),
                                         measure,
                                         2000,
                                         900,
                                         true,
                                         {},
                                         0,
                                         &compare,
                                         Compare::difference});
    for (const MatrixGrid& grid : picture.grids)
        if (grid.tensor == TensorId::output) {
            CHECK(grid.high == Approx(0.005F));
            const figure::TextItem* text = text_in(picture, grid.cell(1, 2));
            // "+0.004" is as wide as the cells of this page let it be; where it does not fit nothing is
            // printed.
            if (text != nullptr)
                CHECK((text->text == "+0.004" || text->text == "+0.0042"));
            const figure::RectItem* fill = fill_of(picture, grid.cell(1, 2));
            REQUIRE(fill != nullptr);
            CHECK(fill->fill != ramp_color(theme(false).diverging, 0.5F));
        }
}

TEST_CASE("where nothing changed, cells hold dots and the bar says so", "[compare]") {
    Pair pair{Wish{}, Wish{}};
    const Picture picture = pair.page(StageGroup::output);
    for (const MatrixGrid& grid : picture.grids)
        if (is_result(grid.tensor, StageGroup::output))
            CHECK(text_in(picture, grid.cell(0, 0))->text == "·");
    const DrawContext context{pair.compare.difference(StageGroup::output),
                              pair.view,
                              theme(false),
                              pair.measure,
                              page_width,
                              page_height,
                              true,
                              {},
                              0,
                              &pair.compare,
                              Compare::difference};
    CHECK_THAT(all_text(draw_compare_bar(context)), Catch::Contains("no number differs from A"));
}

TEST_CASE("in a narrow bar the sentence has two lines, and loses whole words", "[compare]") {
    Pair pair{Wish{}};
    pair.view.group = StageGroup::output;
    pair.view.compare = Compare::difference;
    const auto bar = [&](float width) {
        return draw_compare_bar({pair.compare.difference(StageGroup::output),
                                 pair.view,
                                 theme(false),
                                 pair.measure,
                                 width,
                                 page_height,
                                 true,
                                 {},
                                 0,
                                 &pair.compare,
                                 Compare::difference});
    };
    const std::string whole = all_text(bar(page_width));
    for (float width = 400; width < 700; width += 10) {
        const Picture picture = bar(width);
        INFO(width);
        for (const figure::SceneItem& item : picture.scene.items)
            if (const auto* const text = std::get_if<figure::TextItem>(&item)) {
                std::string words = text->text;
                if (words.ends_with(" …")) {
                    words.resize(words.size() - std::string(" …").size());
                    CHECK(picture.tips.size() == 1);
                }
                CHECK_THAT(whole, Catch::Contains(words));
            }
    }
}

TEST_CASE("a difference keeps its decimals in the narrowest cells of a product", "[compare]") {
    Pair pair{Wish{}};
    Picture picture;
    MatrixSpec spec{.tensor = TensorId::output,
                    .row_axis = 1,
                    .col_axis = 2,
                    .rows = 2,
                    .cols = 2,
                    .cell_w = readable_cell,
                    .fill = CellFill::diverging,
                    .high = 2,
                    .plus_sign = true,
                    .value = [](std::int64_t, std::int64_t) { return -1.75F; }};
    const DrawContext context = pair.panel();
    const MatrixGrid grid = draw_matrix(picture, context, spec);
    const figure::TextItem* const text = text_in(picture, grid.cell(0, 0));
    REQUIRE(text != nullptr);
    CHECK(text->text == signed_number(-1.75, 2));
}

TEST_CASE("a score that is masked in one of both is marked with whose mask it is", "[compare]") {
    Wish causal;
    causal.mask = {CausalMask{}};
    Pair pair{Wish{}, causal};
    const Picture picture = pair.page(StageGroup::masked);
    const MatrixGrid& grid = picture.grids.front();
    CHECK(text_in(picture, grid.cell(0, 1))->text == "B");
    CHECK(text_in(picture, grid.cell(1, 0))->text == "·");
    Pair back{causal, Wish{}};
    const Picture other = back.page(StageGroup::masked);
    CHECK(text_in(other, other.grids.front().cell(0, 1))->text == "A");
    Pair both{causal, causal};
    const Picture same = both.page(StageGroup::masked);
    CHECK(text_in(same, same.grids.front().cell(0, 1)) == nullptr);
    // The weight has changed from a positive number to zero: treated like any other number.
    const Picture weights = pair.page(StageGroup::weights);
    const float was = pair.a.value({TensorId::weights, {0, 0, 0, 1}});
    CHECK(text_in(weights, weights.grids.front().cell(0, 1))->text == signed_number(-was, 2));
}

TEST_CASE("the bar names what is on screen, the largest change, and why A does not fit", "[compare]") {
    Pair pair{Wish{}};
    pair.view.group = StageGroup::output;
    pair.view.compare = Compare::difference;
    const analysis::TensorDifference& change = *pair.compare.of(TensorId::output);
    DrawContext context{pair.compare.difference(StageGroup::output),
                        pair.view,
                        theme(false),
                        pair.measure,
                        page_width,
                        page_height,
                        true,
                        {},
                        0,
                        &pair.compare,
                        Compare::difference};
    CHECK_THAT(
        all_text(draw_compare_bar(context)),
        Catch::Contains("Largest change: " + address_text(pair.b, {TensorId::output, *change.largest_at}) +
                        ", " + signed_number(change.largest, 2)));
    CHECK(std::holds_alternative<DropBaseline>(action_of(draw_compare_bar(context), "forget A")));

    Wish wide;
    wide.H = wide.Hkv = 4;
    wide.dk = wide.dv = 2;
    Pair other{Wish{}, wide};
    other.view.compare = Compare::difference;
    CHECK_FALSE(other.compare.comparable());
    CHECK(other.compare.of(TensorId::x) == nullptr);
    CHECK(side_to_show(other.compare, Compare::difference) == Compare::now);
    const DrawContext unfit{other.b, other.view, theme(false),   other.measure, page_width, page_height, true,
                            {},      0,          &other.compare, Compare::now};
    const Picture bar = draw_compare_bar(unfit);
    CHECK_THAT(all_text(bar), Catch::Contains("A has H 2, dk 4, B has H 4, dk 2."));
    CHECK(bar.hotspots.size() == 1); // the switch is disabled: the only action is to discard A

    Wish words;
    words.tokens = {"One", "dog", "ran", "home"};
    Pair renamed{Wish{}, words};
    const DrawContext said{renamed.b,  renamed.view,     theme(false), renamed.measure,
                           page_width, page_height,      true,         {},
                           0,          &renamed.compare, Compare::now};
    CHECK_THAT(all_text(draw_compare_bar(said)), Catch::Contains("words differ"));
}

TEST_CASE("the inspector tells a cell in A and B, what it touches and which head changed", "[compare]") {
    Pair pair{Wish{}};
    pair.view.group = StageGroup::output;
    pair.view.selected = CellAddress{TensorId::W_O, {5, 1, 0, 0}};
    const std::string text = all_text(draw_inspector(pair.panel()));
    CHECK_THAT(text, Catch::Contains("Numbers that depend on this cell"));
    CHECK_THAT(text, Catch::Contains("output[:, 1]"));
    for (std::int64_t i = 0; i < 4; ++i) {
        const CellAddress cell{TensorId::output, {0, i, 1, 0}};
        CHECK_THAT(text, Catch::Contains(number(pair.a.value(cell), 2)));
        CHECK_THAT(text, Catch::Contains(number(pair.b.value(cell), 2)));
        CHECK_THAT(text, Catch::Contains(signed_number(pair.b.value(cell) - pair.a.value(cell), 2)));
    }
    CHECK_THAT(text, Catch::Contains("Change by head"));
    for (std::int64_t h = 0; h < 2; ++h) {
        double of_head = 0;
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t c = 0; c < 8; ++c) {
                const CellAddress cell{TensorId::contributions, {0, h, i, c}};
                of_head += std::pow(static_cast<double>(pair.b.value(cell) - pair.a.value(cell)), 2);
            }
        CHECK_THAT(text, Catch::Contains(number(std::sqrt(of_head), 2)));
        CHECK(change_of_head(pair.panel(), h)->norm == Approx(std::sqrt(of_head)));
        CHECK_THAT(all_text(draw_heads(pair.panel())), Catch::Contains(number(std::sqrt(of_head), 2)));
    }
    // Without hover, canvas and inspector show the largest change.
    pair.view.selected.reset();
    pair.view.compare = Compare::difference;
    const CellAddress most{TensorId::output, *pair.compare.of(TensorId::output)->largest_at};
    CHECK(current_cell(pair.compare.difference(StageGroup::output), pair.view) == most);
    CHECK_THAT(all_text(draw_inspector(pair.panel())), Catch::StartsWith(address_text(pair.b, most) + "\n"));
    // Without a baseline none of it is there.
    const DrawContext alone{pair.b, pair.view, theme(false), pair.measure, 312, 800};
    CHECK_THAT(all_text(draw_inspector(alone)), !Catch::Contains("Change by head"));
}

TEST_CASE("cells that the last edit changed are outlined, others are not", "[compare][flash]") {
    Pair pair{Wish{}};
    const Flash flash{pair.a, 0.5F};
    ViewState view;
    view.group = StageGroup::head_out;
    const DrawContext context{pair.b, view, theme(false), pair.measure, page_width, page_height, true,
                              {},     0,    nullptr,      Compare::now, &flash};
    Picture picture = draw_head_out_page(context);
    const std::size_t before = picture.scene.items.size();
    std::size_t changed = 0;
    for (const MatrixGrid& grid : picture.grids)
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                const CellAddress cell{grid.tensor, grid.index(row, col)};
                changed += pair.a.value(cell) != pair.b.value(cell) ? 1U : 0U;
            }
    draw_flash(picture, context);
    CHECK(changed > 0);
    CHECK(picture.scene.items.size() - before == changed);
    const Flash same{pair.b, 0.5F};
    const DrawContext still{pair.b, view, theme(false), pair.measure, page_width, page_height, true,
                            {},     0,    nullptr,      Compare::now, &same};
    const std::size_t after = picture.scene.items.size();
    draw_flash(picture, still);
    CHECK(picture.scene.items.size() == after);
}
