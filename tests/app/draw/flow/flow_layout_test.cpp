#include "app/draw/flow/flow_layout.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

// The geometry of the Flow: nothing overlaps or leaves the canvas, for many sizes.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Part {
    std::string name;
    figure::Rect area;
};

bool overlap(const figure::Rect& a, const figure::Rect& b) {
    constexpr float hair = 0.01F;
    return a.x + hair < b.right() && b.x + hair < a.right() && a.y + hair < b.bottom() &&
           b.y + hair < a.bottom();
}

/// The parts that have a place of their own.
std::vector<Part> parts_of(const FlowLayout& layout) {
    std::vector<Part> parts{
        {"words", layout.words.area}, {"X", layout.x.area}, {"output", layout.output.area}};
    if (layout.key_words.area.w > 0) {
        parts.push_back({"key words", layout.key_words.area});
        parts.push_back({"X_kv", layout.x_kv.area});
    }
    if (layout.concat.area.w > 0)
        parts.push_back({"concat", layout.concat.area});
    if (layout.W_O.w > 0)
        parts.push_back({"W_O", layout.W_O});
    if (layout.chart.w > 0)
        parts.push_back({"chart", layout.chart});
    if (layout.corner.w > 0)
        parts.push_back({"corner", layout.corner});
    for (std::size_t h = 0; h < layout.tiles.size(); ++h)
        parts.push_back({"tile " + std::to_string(h), layout.tiles[h]});
    for (std::size_t h = 0; h < layout.heads.size(); ++h) {
        const FlowHead& head = layout.heads[h];
        if (!head.shown)
            continue;
        const std::string name = "head " + std::to_string(h) + " ";
        parts.push_back({name + "Q", head.q.area});
        parts.push_back({name + "K", head.k.area});
        parts.push_back({name + "V", head.v.area});
        parts.push_back({name + "map", head.map.area});
        parts.push_back({name + "output", head.out.area});
    }
    return parts;
}

void check_layout(const FlowLayout& layout) {
    const std::vector<Part> parts = parts_of(layout);
    for (const Part& part : parts) {
        INFO(part.name);
        CHECK(part.area.x >= -0.01F);
        CHECK(part.area.y >= -0.01F);
        CHECK(part.area.right() <= layout.width + 0.01F);
        CHECK(part.area.bottom() <= layout.height + 0.01F);
        CHECK(part.area.w > 0);
        CHECK(part.area.h > 0);
    }
    for (std::size_t a = 0; a < parts.size(); ++a)
        for (std::size_t b = a + 1; b < parts.size(); ++b) {
            INFO(parts[a].name << " and " << parts[b].name);
            CHECK_FALSE(overlap(parts[a].area, parts[b].area));
        }
}

struct Canvas {
    float width, height;
};
constexpr std::array canvases{Canvas{1512, 848}, Canvas{1512, 824}, Canvas{1244, 848},
                              Canvas{1192, 568}, Canvas{1192, 558}, Canvas{2472, 1288}};

FlowSizes sizes_of(const Canvas& canvas, std::int64_t H, std::int64_t T, std::int64_t dk = 4) {
    return {.width = canvas.width,
            .height = canvas.height,
            .Tq = T,
            .Tk = T,
            .D = H * dk,
            .Dkv = H * dk,
            .H = H,
            .Hkv = H,
            .dk = dk,
            .dv = dk,
            .head = H / 2};
}

} // namespace

TEST_CASE("nothing of the Flow overlaps for 1 to 12 heads and 1 to 30 words", "[flow]") {
    for (const Canvas& canvas : canvases)
        for (std::int64_t H = 1; H <= 12; ++H)
            for (const std::int64_t T : {1, 2, 3, 4, 6, 8, 12, 20, 30}) {
                INFO(canvas.width << " x " << canvas.height << ", H " << H << ", T " << T);
                const FlowSizes sizes = sizes_of(canvas, H, T);
                check_layout(flow_layout(sizes));
                check_layout(flow_story_layout(sizes, false));
                check_layout(flow_story_layout(sizes, true));
            }
}

TEST_CASE("nothing of the Flow of two sentences overlaps", "[flow]") {
    for (const Canvas& canvas : canvases)
        for (const std::int64_t keys : {1, 5, 14}) {
            FlowSizes sizes = sizes_of(canvas, 2, 6, 8);
            sizes.Tk = keys;
            sizes.cross = true;
            INFO(canvas.width << ", " << keys << " keys");
            check_layout(flow_layout(sizes));
            check_layout(flow_story_layout(sizes, false));
        }
}

TEST_CASE("the Flow of two heads and four words has the places of its design", "[flow]") {
    const FlowLayout layout = flow_layout(sizes_of({1512, 848}, 2, 4));
    REQUIRE(layout.heads.size() == 2);
    CHECK(layout.heads[0].open);
    CHECK(layout.heads[1].open);
    // Cells of 34 pixels with numbers, the map 44 wide, rows 32 and 21 high.
    CHECK(layout.x.area.w == Approx(8 * 34));
    CHECK(layout.heads[0].q.area.w == Approx(4 * 34));
    CHECK(layout.heads[0].map.area.w == Approx(4 * 44));
    CHECK(layout.heads[0].q.row == Approx(32));
    CHECK(layout.heads[0].k.row == Approx(21));
    CHECK(layout.output.area.w == Approx(8 * 34));
    CHECK(layout.concat.area.w > 0);
    CHECK(layout.corner.w > 0);
    for (const FlowHead& head : layout.heads)
        for (std::int64_t i = 0; i < 4; ++i) {
            CHECK(head.q.at(i).y == Approx(head.map.at(i).y));
            CHECK(head.q.at(i).y == Approx(head.out.at(i).y));
        }
}

TEST_CASE("a low canvas folds the heads that are not in focus", "[flow]") {
    const FlowLayout layout = flow_layout(sizes_of({1192, 568}, 8, 12));
    for (std::size_t h = 0; h < layout.heads.size(); ++h) {
        CHECK(layout.heads[h].open == (h == 4));
        CHECK(layout.heads[h].shown);
    }
}

TEST_CASE("heads that have no room are tiles, the one in focus is open", "[flow]") {
    for (const Canvas& canvas : canvases)
        for (const std::int64_t H : {40, 64, 96}) {
            INFO(canvas.width << " x " << canvas.height << ", H " << H);
            const FlowSizes sizes = sizes_of(canvas, H, 12, 2);
            const FlowLayout layout = flow_layout(sizes);
            REQUIRE(std::ssize(layout.tiles) == H);
            for (std::size_t h = 0; h < layout.heads.size(); ++h)
                CHECK(layout.heads[h].shown == (h == static_cast<std::size_t>(H / 2)));
            check_layout(layout);
            check_layout(flow_story_layout(sizes, true));
        }
    CHECK(flow_layout(sizes_of({1512, 848}, 8, 12)).tiles.empty());
}

TEST_CASE("a layout between two has their positions at both ends", "[flow]") {
    const FlowSizes sizes = sizes_of({1512, 848}, 2, 4);
    const FlowLayout rest = flow_layout(sizes), told = flow_story_layout(sizes, false);
    CHECK(mixed_layout(rest, told, 0).heads[0].q.area == rest.heads[0].q.area);
    CHECK(mixed_layout(rest, told, 1).heads[0].q.area == told.heads[0].q.area);
    const float middle = mixed_layout(rest, told, 0.5F).output.area.x;
    CHECK(middle == Approx((rest.output.area.x + told.output.area.x) / 2));
}

} // namespace headscope::test
