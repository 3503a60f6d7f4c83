#include "core/figure/crop.h"

#include "tests/catch.h"

namespace headscope::figure {
namespace {

constexpr Color paper = rgb(0xFFFFFF), ink = rgb(0x171C22);

/// Every character is half as wide as high.
float half(std::string_view text, Font, float size) {
    return static_cast<float>(text.size()) * size / 2;
}

} // namespace

TEST_CASE("a figure is cropped to what can be seen, with an even margin", "[figure]") {
    Scene scene;
    scene.width = 400;
    scene.height = 300;
    scene.add(RectItem{{0, 0, 400, 300}, paper});                // the background does not count as content
    scene.add(RectItem{{300, 200, 50, 50}, with_alpha(ink, 0)}); // nor is what is invisible
    scene.add(RectItem{{100, 60, 40, 30}, ink});
    scene.add(LineItem{{20, 110}, {380, 110}, ink, 1}); // from margin to margin: divides the scene
    scene.add(ClipItem{{0, 120, 200, 10}});
    scene.add(RectItem{{150, 115, 200, 100}, ink}); // of which the clip leaves (150, 120) to (200, 130)
    scene.add(ClipItem{});
    scene.add(TextItem{{90, 80}, "abcd", Font::ui, 10, ink, Align::right}); // (70, 70.5) to (90, 82.5)

    const Scene out = cropped(scene, half, paper, 10);
    CHECK(out.width == 200 - 70 + 20);
    CHECK(out.height == 130 - 60 + 20);
    CHECK(std::get<RectItem>(out.items[2]).area == Rect{40, 10, 40, 30});
    const LineItem& divider = std::get<LineItem>(out.items[3]);
    CHECK(divider.from.x == 10);
    CHECK(divider.to.x == 140);
    CHECK(divider.from.y == 60);
}

TEST_CASE("turned text keeps its room in a cropped figure", "[figure]") {
    Scene scene;
    scene.width = scene.height = 200;
    scene.add(TextItem{{100, 100}, "abcdefgh", Font::ui, 20, ink, Align::left, -90}); // upwards
    const Scene out = cropped(scene, half, paper, 0);
    CHECK(out.width == 24);  // from 19 left of the baseline to 5 right of it
    CHECK(out.height == 80); // its width
    const Point at = std::get<TextItem>(out.items[0]).at;
    CHECK(at.x == 19);
    CHECK(at.y == 80);
}

TEST_CASE("a scene without content is not cropped", "[figure]") {
    Scene scene;
    scene.width = 40;
    scene.height = 30;
    scene.add(RectItem{{0, 0, 40, 30}, paper});
    CHECK(cropped(scene, half, paper, 10).width == 40);
}

} // namespace headscope::figure
