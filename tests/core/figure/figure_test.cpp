#include "core/figure/figure.h"

#include "core/base/error.h"
#include "core/text/plain_text.h"
#include "tests/catch.h"

#include <stb_image.h>

#include <algorithm>
#include <malloc.h>

namespace headscope::figure {
namespace {

// Read back by a library that didn't write it.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
    std::uint32_t at(int x, int y) const {
        const std::uint8_t* p = rgba.data() + (static_cast<std::ptrdiff_t>(y) * width + x) * 4;
        return static_cast<std::uint32_t>(p[0] << 16 | p[1] << 8 | p[2]);
    }
};

Picture decode(const std::string& png) {
    Picture picture;
    int channels = 0;
    stbi_uc* pixels =
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()), static_cast<int>(png.size()),
                              &picture.width, &picture.height, &channels, 4);
    REQUIRE(pixels != nullptr);
    picture.rgba.assign(pixels, pixels + static_cast<std::ptrdiff_t>(picture.width) * picture.height * 4);
    stbi_image_free(pixels);
    return picture;
}

Scene sample() {
    Scene scene;
    scene.width = 120;
    scene.height = 80;
    scene.add(RectItem{{10, 10, 20, 20}, rgb(0x2B6CB0), rgb(0xD4700F), 2});
    auto pixels = std::make_shared<std::vector<Color>>(std::vector<Color>{
        rgb(0x112233), rgb(0x445566), rgb(0x778899), rgb(0xAABBCC), rgb(0xDDEEFF), rgb(0x010203)});
    scene.add(GridItem{{50, 10, 30, 20}, 3, 2, pixels, 1});
    scene.add(ClipItem{{0, 40, 60, 40}});
    scene.add(RectItem{{40, 50, 40, 10}, rgb(0x109E73)});
    scene.add(ClipItem{});
    scene.add(TextItem{{5, 70}, "a < b & c−d", Font::mono, 12, rgb(0x171C22)});
    scene.add(LineItem{{90, 10}, {110, 30}, rgb(0xFF0000), 1.5F});
    scene.add(CurveItem{{90, 40}, {100, 40}, {90, 60}, {110, 60}, rgb(0x672B40), 2});
    scene.add(PolygonItem{{{95, 65}, {105, 65}, {100, 75}}, rgb(0x6E7C3C)});
    return scene;
}

} // namespace

TEST_CASE("a PNG has the size and the colours of its scene", "[figure]") {
    for (const int scale : {1, 2, 3}) {
        CAPTURE(scale);
        const Picture picture =
            decode(draw_figure(sample(), FigureFormat::png, static_cast<float>(scale), rgb(0xFAFBFC)));
        CHECK(picture.width == 120 * scale);
        CHECK(picture.height == 80 * scale);
        const auto at = [&](int x, int y) { return picture.at(x * scale, y * scale); };
        CHECK(at(2, 2) == 0xFAFBFC);
        CHECK(at(20, 20) == 0x2B6CB0);
        CHECK(at(10, 10) == 0xD4700F); // the outline is inside its edge
        CHECK(at(11, 28) == 0xD4700F);
        CHECK(at(9, 9) == 0xFAFBFC);
        CHECK(at(30, 30) == 0xFAFBFC);
        CHECK(at(50, 55) == 0x109E73);
        CHECK(at(60, 55) == 0xFAFBFC); // beyond the clip
        CHECK(at(100, 67) == 0x6E7C3C);
    }
}

TEST_CASE("cells of a grid have exactly their colours up to the edge", "[figure]") {
    const Scene scene = sample();
    const Picture picture = decode(draw_figure(scene, FigureFormat::png, 2, rgb(0xFFFFFF)));
    const auto& grid = std::get<GridItem>(scene.items[1]);
    int wrong = 0;
    for (int y = 20; y < 60; ++y)
        for (int x = 100; x < 160; ++x) {
            const Color color = (*grid.pixels)[static_cast<std::size_t>((y - 20) / 20 * 3 + (x - 100) / 20)];
            const std::uint32_t expected = (color & 0xFFU) << 16 | (color & 0xFF00U) | (color >> 16 & 0xFFU);
            wrong += picture.at(x, y) != expected;
        }
    CHECK(wrong == 0);
}

#if defined(__GLIBC__)
TEST_CASE("figures leave no fonts behind, at however many scales they are drawn", "[figure]") {
    Scene scene;
    scene.width = scene.height = 200;
    for (int size = 8; size < 18; ++size)
        scene.add(TextItem{{10, 20}, "The quick fox 0123", Font::ui, static_cast<float>(size), rgb(0)});
    const auto draw = [&](int from, int to) {
        for (int n = from; n < to; ++n)
            draw_pixels(scene, 0.5F + 0.01F * static_cast<float>(n), rgb(0xFFFFFF));
    };
    const auto used = [] {
        const struct mallinfo2 heap = mallinfo2();
        return heap.uordblks + heap.hblkhd;
    };
    draw(0, 30); // cairo itself keeps 256 sizes of fonts
    const std::size_t before = used();
    draw(30, 60);
    CHECK(used() < before + (std::size_t{4} << 20));
}
#endif

TEST_CASE("text is drawn where it was asked for", "[figure]") {
    const TextMeasure measure = figure_measure();
    const float width = measure("0.97", Font::mono, 20);
    CHECK(width == Approx(4 * 0.6 * 20)); // JetBrains Mono is 0.6 em wide
    CHECK(measure("W", Font::ui_semibold, 20) > measure("i", Font::ui_semibold, 20));
    CHECK(measure("", Font::ui, 20) == 0);

    const auto ink = [&](Align align, float angle) {
        Scene scene;
        scene.width = scene.height = 200;
        scene.add(TextItem{{100, 100}, "HHHH", Font::mono, 20, rgb(0), align, angle});
        const Picture picture = decode(draw_figure(scene, FigureFormat::png, 1, rgb(0xFFFFFF)));
        int left = 200, right = -1, top = 200, bottom = -1;
        for (int y = 0; y < 200; ++y)
            for (int x = 0; x < 200; ++x)
                if (picture.at(x, y) < 0x808080) {
                    left = std::min(left, x);
                    right = std::max(right, x);
                    top = std::min(top, y);
                    bottom = std::max(bottom, y);
                }
        return Rect{static_cast<float>(left), static_cast<float>(top), static_cast<float>(right - left + 1),
                    static_cast<float>(bottom - top + 1)};
    };
    const Rect left = ink(Align::left, 0);
    CHECK(left.x >= 100);
    CHECK(left.x < 104);
    CHECK(left.right() <= 100 + width);
    CHECK(left.bottom() == Approx(100).margin(1));
    CHECK(ink(Align::right, 0).right() <= 100);
    CHECK(ink(Align::center, 0).x + ink(Align::center, 0).w / 2 == Approx(100).margin(1));
    const Rect down = ink(Align::left, 90); // clockwise: the text runs down, its baseline on the left
    CHECK(down.y >= 100);
    CHECK(down.x >= 99);
    CHECK(down.h > down.w);
}

TEST_CASE("SVG keeps text, shapes and cells", "[figure]") {
    const std::string svg = draw_figure(sample(), FigureFormat::svg, 1, rgb(0xFFFFFF));
    CHECK(svg.find("width=\"120\" height=\"80\" viewBox=\"0 0 120 80\"") != std::string::npos);
    CHECK(svg.find(">a &lt; b &amp; c−d</text>") != std::string::npos);
    CHECK(svg.find("fill=\"#2b6cb0\"") != std::string::npos);
    CHECK(svg.find("<clipPath") != std::string::npos);
    CHECK(svg.find("<path fill=\"none\" d=\"M90 40C100 40 90 60 110 60\"") != std::string::npos);
    CHECK(svg.find("image-rendering:pixelated") != std::string::npos);
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("a PDF is a PDF of the right size with a fixed date", "[figure]") {
    const std::string pdf = draw_figure(sample(), FigureFormat::pdf, 1, rgb(0xFFFFFF));
    CHECK(pdf.starts_with("%PDF-1."));
    CHECK(pdf.find("%%EOF") != std::string::npos);
    CHECK(pdf.find("/MediaBox [ 0 0 90 60 ]") != std::string::npos);
    CHECK(pdf.find("20000101000000Z") != std::string::npos);
}

TEST_CASE("a figure is the same from run to run", "[figure]") {
    for (const FigureFormat format : {FigureFormat::png, FigureFormat::svg, FigureFormat::pdf})
        CHECK(draw_figure(sample(), format, 1, rgb(0xFFFFFF)) ==
              draw_figure(sample(), format, 1, rgb(0xFFFFFF)));
}

TEST_CASE("the ending of a path decides the format", "[figure]") {
    CHECK(figure_format("a.png") == FigureFormat::png);
    CHECK(figure_format("dir.x/b.SVG") == FigureFormat::svg);
    CHECK(figure_format("c.d.pdf") == FigureFormat::pdf);
    for (const char* path : {"a.jpg", "png", "dir.png/a", ""})
        CHECK_THROWS_WITH(figure_format(path), Catch::Contains(".png, .svg or .pdf"));
}

TEST_CASE("a figure too large for a PNG is refused", "[figure]") {
    Scene scene = sample();
    scene.width = 20000;
    CHECK_THROWS_AS(draw_figure(scene, FigureFormat::png, 1, rgb(0)), Error);
    scene.width = 0;
    CHECK_THROWS_AS(draw_figure(scene, FigureFormat::png, 1, rgb(0)), Error);
}

TEST_CASE("broken text becomes text that every renderer takes", "[figure]") {
    CHECK(text::plain_text("ok − Ж") == "ok − Ж");
    CHECK(text::plain_text("\xC3") == "\xEF\xBF\xBD");
    CHECK(text::plain_text("a\xFF\xFE"
                           "b\n") == "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                     "b\xEF\xBF\xBD");
    CHECK(text::plain_text(std::string_view("\0", 1)) == "\xEF\xBF\xBD");
}

TEST_CASE("append moves every kind of item", "[figure]") {
    Scene moved;
    moved.append(sample(), 100, 200);
    const Scene scene = sample();
    REQUIRE(moved.items.size() == scene.items.size());
    CHECK(std::get<RectItem>(moved.items[0]).area == Rect{110, 210, 20, 20});
    CHECK(std::get<GridItem>(moved.items[1]).area == Rect{150, 210, 30, 20});
    CHECK(std::get<ClipItem>(moved.items[2]).area == Rect{100, 240, 60, 40});
    CHECK(std::get<TextItem>(moved.items[5]).at.y == 270);
    CHECK(std::get<LineItem>(moved.items[6]).to.x == 210);
    CHECK(std::get<CurveItem>(moved.items[7]).control_to.y == 260);
    CHECK(std::get<PolygonItem>(moved.items[8]).points[2].x == 200);
}

} // namespace headscope::figure
