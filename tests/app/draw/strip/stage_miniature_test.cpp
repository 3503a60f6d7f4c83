#include "app/draw/strip/stage_miniature.h"

#include "app/draw/matrix/flash.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Strip {
    Shown shown;
    ViewState view = {};
    figure::TextMeasure measure = approximate_measure();
    Flash flash = {};

    DrawContext context() const {
        return {.shown = shown,
                .view = view,
                .theme = theme(false),
                .measure = measure,
                .width = 1200,
                .height = 68,
                .flash = &flash};
    }
    std::vector<figure::GridItem> miniature(StageGroup stage) const {
        Picture picture;
        draw_stage_miniature(picture, context(), stage, {10, 5, 76, 32});
        std::vector<figure::GridItem> grids;
        for (const figure::SceneItem& item : picture.scene.items)
            grids.push_back(std::get<figure::GridItem>(item));
        return grids;
    }
};

} // namespace

TEST_CASE("a stage's small picture has the colors of its own numbers", "[strip]") {
    const Strip strip{make_shown({})};
    const auto maps = strip.miniature(StageGroup::weights);
    REQUIRE(maps.size() == 2);
    for (std::size_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < 4; ++i)
            for (std::int64_t j = 0; j < 4; ++j) {
                const auto head = static_cast<std::int64_t>(h);
                const float weight = strip.shown.value({TensorId::weights, {0, head, i, j}});
                CHECK((*maps[h].pixels)[static_cast<std::size_t>(i * 4 + j)] ==
                      ramp_color(theme(false).heat(head, 2, ColourMap::head), weight));
            }
    CHECK(strip.miniature(StageGroup::split).size() == 6);
    CHECK(strip.miniature(StageGroup::qkv).size() == 3);
    CHECK(strip.miniature(StageGroup::output).size() == 1);
}

TEST_CASE("every stage of every problem has a small picture inside its area", "[strip]") {
    for (const Wish& wish : many_wishes()) {
        const Strip strip{make_shown(wish)};
        for (int g = 0; g < group_count; ++g) {
            CAPTURE(g);
            const auto stage = static_cast<StageGroup>(g);
            const auto grids = strip.miniature(stage);
            CHECK(grids.empty() == (miniature_width(strip.context(), stage, 32) == 0));
            for (const figure::GridItem& grid : grids) {
                CHECK(grid.area.x >= 10 - 0.01F);
                CHECK(grid.area.right() <= 86 + 0.01F);
                CHECK(grid.area.bottom() <= 37 + 0.01F);
                CHECK(std::ssize(*grid.pixels) == grid.cols * grid.rows);
            }
        }
    }
}

TEST_CASE("a stage whose numbers changed is marked, one before the change is not", "[strip]") {
    Strip strip{make_shown({})};
    Wish other;
    other.temperature = 2; // scaled scores and everything after them
    strip.flash = {make_shown(other), 1};
    for (const StageGroup stage : {StageGroup::x, StageGroup::qkv, StageGroup::split, StageGroup::scores})
        CHECK_FALSE(has_changed(strip.context(), stage));
    for (const StageGroup stage : {StageGroup::weights, StageGroup::head_out, StageGroup::output})
        CHECK(has_changed(strip.context(), stage));
    strip.flash.strength = 0;
    CHECK_FALSE(has_changed(strip.context(), StageGroup::output));
}

} // namespace headscope::test
