#include "app/draw/motion/transition.h"

#include "app/draw/flow/flow_page.h"
#include "app/draw/pages/pages.h"
#include "app/state/screens/flow.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

// Pictures between two pages: cells that show the same number glide, and everything else fades.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Pages {
    Shown shown = make_shown({});
    figure::TextMeasure measure = approximate_measure();
    ViewState view;

    DrawContext context() const {
        return {.shown = shown,
                .view = view,
                .theme = theme(false),
                .measure = measure,
                .width = 1200,
                .height = 848};
    }
    Picture page(StageGroup group) {
        view.group = group;
        view.attention.screen = Screen::stages;
        return draw_canvas(context());
    }
    Picture flow() {
        view.attention.screen = Screen::flow;
        follow_flow(shown, view);
        return draw_canvas(context());
    }
    Picture between(const Picture& from, const Picture& to, float t, bool zooms = false) {
        view.arrival = t;
        const Picture out = transition(leaving_picture(from, shown.dims(), zooms), to, context());
        view.arrival = 1;
        return out;
    }
};

figure::Rect place_of_cell(const Picture& picture, const CellAddress& cell) {
    for (const MatrixGrid& grid : picture.grids)
        if (const auto at = grid.tensor == cell.tensor ? grid.find(cell.at) : std::nullopt)
            return grid.cell(at->first, at->second);
    FAIL("the cell is not in the picture");
    return {};
}

void check_same(const figure::Rect& a, const figure::Rect& b) {
    CHECK(a.x == Approx(b.x).margin(0.01));
    CHECK(a.y == Approx(b.y).margin(0.01));
    CHECK(a.w == Approx(b.w).margin(0.01));
    CHECK(a.h == Approx(b.h).margin(0.01));
}

std::size_t visible_numbers(const Picture& picture, const figure::Rect& area) {
    std::size_t count = 0;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            count += area.contains(text->at.x, text->at.y - 4) && text->color >> 24U > 200 ? 1U : 0U;
    return count;
}

} // namespace

TEST_CASE("columns of Q glide into their heads, and head outputs into the concatenation", "[motion]") {
    Pages pages;
    const Dims& dims = pages.shown.dims();
    struct Step {
        StageGroup from, to;
        TensorId joined, blocks;
        std::int64_t width;
        bool joins;
    };
    for (const Step& step :
         {Step{StageGroup::qkv, StageGroup::split, TensorId::q, TensorId::q_heads, dims.dk, false},
          Step{StageGroup::head_out, StageGroup::concat, TensorId::concat, TensorId::head_out, dims.dv,
               true}}) {
        const Picture from = pages.page(step.from), to = pages.page(step.to);
        const std::int64_t head = step.joins ? 0 : 1; // the view of the head outputs shows one head
        const Index at{0, 2, head * step.width + 3, 0}, by_head{0, head, 2, 3};
        const CellAddress source =
                              step.joins ? CellAddress{step.blocks, by_head} : CellAddress{step.joined, at},
                          target =
                              step.joins ? CellAddress{step.joined, at} : CellAddress{step.blocks, by_head};
        const figure::Rect begin = place_of_cell(from, source), end = place_of_cell(to, target);
        REQUIRE(begin != end);
        check_same(place_of_cell(pages.between(from, to, 0), target), begin);
        check_same(
            place_of_cell(pages.between(from, to, 0.5F), target),
            {(begin.x + end.x) / 2, (begin.y + end.y) / 2, (begin.w + end.w) / 2, (begin.h + end.h) / 2});
        CHECK(place_of_cell(pages.between(from, to, 1), target) == end);
        // Its number glides with it.
        const figure::Rect now = place_of_cell(pages.between(from, to, 0.5F), target);
        CHECK(visible_numbers(pages.between(from, to, 0.5F), now) == 1);
    }
}

TEST_CASE("a transition that is interrupted goes on from where the cells are", "[motion]") {
    Pages pages;
    const Picture q = pages.page(StageGroup::qkv), split = pages.page(StageGroup::split);
    const CellAddress cell{TensorId::q_heads, {0, 1, 2, 3}}, joined{TensorId::q, {0, 2, 7, 0}};
    const Picture half = pages.between(q, split, 0.4F);
    const figure::Rect stopped = place_of_cell(half, cell);
    check_same(place_of_cell(pages.between(half, q, 0), joined), stopped);
    CHECK(place_of_cell(pages.between(half, q, 1), joined) == place_of_cell(q, joined));
}

TEST_CASE("a product is filled where its rows have met its columns", "[motion]") {
    Pages pages;
    const Picture split = pages.page(StageGroup::split), scores = pages.page(StageGroup::scores);
    const figure::Rect first = place_of_cell(scores, {TensorId::scores, {0, 0, 0, 0}}),
                       last = place_of_cell(scores, {TensorId::scores, {0, 0, 3, 3}});
    // The numbers of these cells, as they are in the arrived picture.
    const auto number_in = [&](const Picture& picture, const figure::Rect& cell) {
        for (const figure::SceneItem& item : picture.scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item))
                if (cell.contains(text->at.x, text->at.y - 4))
                    return *text;
        return figure::TextItem{};
    };
    const auto filled = [&](float t, const figure::Rect& cell) {
        const figure::TextItem wanted = number_in(scores, cell);
        REQUIRE_FALSE(wanted.text.empty());
        const Picture now = pages.between(split, scores, t);
        return std::ranges::any_of(now.scene.items, [&](const figure::SceneItem& item) {
            const auto* text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->text == wanted.text && text->at.x == wanted.at.x &&
                   text->at.y == wanted.at.y && text->color >> 24U > 200;
        });
    };
    CHECK_FALSE(filled(0, first));
    CHECK_FALSE(filled(0, last));
    CHECK(filled(0.6F, first));
    CHECK_FALSE(filled(0.6F, last));
    CHECK(filled(1, first));
    CHECK(filled(1, last));
}

TEST_CASE("a stage opens out of its part of the Flow, and closes into it", "[motion]") {
    Pages pages;
    const Picture flow = pages.flow(), page = pages.page(StageGroup::qkv);
    const CellAddress in_flow{TensorId::q_heads, {0, 1, 2, 3}}, on_page{TensorId::q, {0, 2, 7, 0}};
    check_same(place_of_cell(pages.between(flow, page, 0, true), on_page), place_of_cell(flow, in_flow));
    check_same(place_of_cell(pages.between(page, flow, 0, true), in_flow), place_of_cell(page, on_page));
    // The title of the page grows out of the part too: it begins smaller and elsewhere.
    const auto title = [&](float t) {
        for (const figure::SceneItem& item : pages.between(flow, page, t, true).scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item))
                if (text->text == "Queries")
                    return std::pair(text->at.x, text->size);
        return std::pair(-1e3F, 0.0F);
    };
    CHECK(title(0.4F) != title(1));
}

TEST_CASE("every page can be reached from every other one, at every instant", "[motion]") {
    for (const Wish& wish : many_wishes()) {
        Pages pages;
        pages.shown = make_shown(wish);
        std::vector<Picture> all;
        for (int g = 0; g < group_count; ++g)
            all.push_back(pages.page(static_cast<StageGroup>(g)));
        if (why_no_flow(*pages.shown.document).empty())
            all.push_back(pages.flow());
        for (std::size_t n = 0; n < all.size(); ++n)
            for (const float t : {0.0F, 0.3F, 0.9F}) {
                pages.view.group = static_cast<StageGroup>(n % group_count);
                const Picture now = pages.between(all[(n * 5 + 3) % all.size()], all[n], t, n % 2 == 0);
                CHECK_FALSE(now.scene.items.empty());
                for (const figure::SceneItem& item : now.scene.items)
                    if (const auto* rect = std::get_if<figure::RectItem>(&item))
                        REQUIRE((std::isfinite(rect->area.x) && std::isfinite(rect->area.w)));
            }
    }
}

} // namespace headscope::test
