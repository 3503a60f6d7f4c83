#include "app/draw/flow/model_layout.h"
#include "tests/catch.h"

#include <array>

using namespace headscope;
using namespace headscope::app;
using figure::Rect;

namespace {

bool overlap(const Rect& a, const Rect& b) {
    constexpr float touch = 0.5F;
    return a.x < b.right() - touch && b.x < a.right() - touch && a.y < b.bottom() - touch &&
           b.y < a.bottom() - touch;
}

bool inside(const Rect& inner, const Rect& outer) {
    constexpr float touch = 0.5F;
    return inner.x >= outer.x - touch && inner.right() <= outer.right() + touch &&
           inner.y >= outer.y - touch && inner.bottom() <= outer.bottom() + touch;
}

void check_layout(const ModelFlowSizes& sizes) {
    const ModelFlowLayout layout = model_flow_layout(sizes);
    REQUIRE(layout.slabs.size() == sizes.slabs.size());
    std::vector<Rect> parts = layout.slabs;
    parts.push_back({layout.words_right - layout.word_width, layout.first_row, layout.word_width,
                     layout.pitch * static_cast<float>(sizes.T - 1)});
    parts.push_back(layout.final_norm);
    if (sizes.predicts) {
        parts.push_back(layout.hero);
        parts.push_back(layout.why);
        parts.push_back({0, layout.guess_top, layout.hero.x, ModelFlowLayout::guess_height});
    }
    const Rect canvas{0, 0, sizes.width, sizes.height};
    for (std::size_t a = 0; a < parts.size(); ++a) {
        CAPTURE(a);
        CHECK(inside(parts[a], canvas));
        for (std::size_t b = a + 1; b < parts.size(); ++b) {
            CAPTURE(b);
            CHECK_FALSE(overlap(parts[a], parts[b]));
        }
    }
    for (std::size_t slab = 0; slab < sizes.slabs.size(); ++slab) {
        if (sizes.slabs[slab].joined())
            continue;
        for (std::int64_t h = 0; h < sizes.H; ++h) {
            CAPTURE(slab, h);
            CHECK(inside(layout.tile(slab, h, sizes.H), layout.slabs[slab]));
            if (h > 0)
                CHECK_FALSE(overlap(layout.tile(slab, h, sizes.H), layout.tile(slab, h - 1, sizes.H)));
        }
    }
    CHECK(layout.source_x < layout.target_x);
    CHECK(layout.source_x > layout.tile(layout.open_slab, sizes.H - 1, sizes.H).right());
    CHECK(layout.row(0) >= layout.final_norm.y);
    CHECK(layout.row(sizes.T - 1) <= layout.final_norm.bottom());
}

} // namespace

TEST_CASE("the Flow of a model has room for everything, whatever the model and the window", "[flow]") {
    for (const auto& [width, height] : std::array<std::array<float, 2>, 6>{
             {{1512, 824}, {1192, 544}, {960, 824}, {640, 544}, {2000, 1200}, {900, 700}}})
        for (const std::int64_t L : {1, 2, 4, 6, 7, 12, 48})
            for (const std::int64_t H : {1, 4, 8, 12, 25, 32})
                for (const std::int64_t T : {1, 5, 15, 60, 256})
                    for (const std::int64_t open : {std::int64_t{0}, L / 2, L - 1})
                        for (const bool predicts : {true, false}) {
                            CAPTURE(width, height, L, H, T, open, predicts);
                            check_layout({.width = width,
                                          .height = height,
                                          .T = T,
                                          .H = H,
                                          .slabs = flow_slabs(L, open),
                                          .predicts = predicts,
                                          .word_width = 80,
                                          .has_mlp = true});
                        }
}

TEST_CASE("layers far from the open one are joined, and every layer is in one slab", "[flow]") {
    for (const std::int64_t L : {1, 3, 6, 7, 12, 48})
        for (std::int64_t open = 0; open < L; ++open) {
            CAPTURE(L, open);
            const std::vector<FlowSlab> slabs = flow_slabs(L, open);
            std::int64_t next = 0;
            for (const FlowSlab& slab : slabs) {
                CHECK(slab.first == next);
                CHECK(slab.open == (slab.first == open));
                if (slab.joined())
                    CHECK((slab.last < open - 1 || slab.first > open + 1));
                next = slab.last + 1;
            }
            CHECK(next == L);
            CHECK(slabs.size() <= 6);
        }
}
