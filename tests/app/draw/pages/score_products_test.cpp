#include "app/draw/pages/pages.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>

namespace headscope::test {

using namespace headscope::app;

namespace {

Picture scores_of(const Wish& wish, float width, float height) {
    const Shown shown = make_shown(wish);
    ViewState view;
    view.group = StageGroup::scores;
    const figure::TextMeasure measure = approximate_measure();
    return draw_heatmap_page({.shown = shown,
                              .view = view,
                              .theme = theme(false),
                              .measure = measure,
                              .width = width,
                              .height = height});
}

std::ptrdiff_t grids_of(const Picture& picture, TensorId id) {
    return std::ranges::count(picture.grids, id, &MatrixGrid::tensor);
}

const MatrixGrid& grid_of(const Picture& picture, TensorId id, std::int64_t head) {
    return *std::ranges::find_if(
        picture.grids, [&](const MatrixGrid& grid) { return grid.tensor == id && grid.origin[1] == head; });
}

} // namespace

TEST_CASE("scores stand at the crossing of their query and their key", "[scores]") {
    const Picture picture = scores_of({}, 960, 860);
    for (const TensorId id : {TensorId::q_heads, TensorId::k_heads, TensorId::scores})
        REQUIRE(grids_of(picture, id) == 2);
    for (std::int64_t h = 0; h < 2; ++h) {
        const MatrixGrid &q = grid_of(picture, TensorId::q_heads, h),
                         &k = grid_of(picture, TensorId::k_heads, h),
                         &map = grid_of(picture, TensorId::scores, h);
        CHECK(q.area.y == map.area.y);
        CHECK(q.pitch_y == map.pitch_y);
        CHECK(q.area.right() < map.area.x);
        CHECK(k.area.x == map.area.x);
        CHECK(k.pitch_x == map.pitch_x);
        CHECK(k.area.bottom() < map.area.y);
        // Transposed: a column is a key.
        CHECK(k.index(1, 2) == Index{0, h, 2, 1});
    }
    CHECK(grid_of(picture, TensorId::scores, 0).area.right() < grid_of(picture, TensorId::q_heads, 1).area.x);
}

TEST_CASE("scores are maps alone where the products of all heads do not fit with numbers", "[scores]") {
    const Picture picture = scores_of({}, 560, 860);
    CHECK(grids_of(picture, TensorId::scores) == 2);
    CHECK(grids_of(picture, TensorId::q_heads) == 0);
}

} // namespace headscope::test
