#include "app/shell/gl/offscreen.h"
#include "app/views/surface.h"
#include "core/base/error.h"
#include "core/figure/figure.h"
#include "tests/catch.h"

#include <cstdlib>

namespace headscope::app {
namespace {

// Shows one scene on the whole window.
struct SceneUi final : Ui {
    figure::Scene scene;
    float at = 0;
    bool hovered = false;
    int vertices = 0;
    float measured = 0;

    void frame(Surface& surface, double) override {
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        paint(scene, at, at, surface, list);
        vertices = list.VtxBuffer.Size;
        measured = surface_measure(surface)("0.97", figure::Font::mono, 15);
        hovered = ImGui::IsMouseHoveringRect({10, 10}, {20, 20}, false);
    }
    bool animating() const override { return false; }
    float zoom() const override { return 1; }
    figure::Color background() const override { return figure::rgb(0xFAFBFC); }
    std::string title() const override { return ""; }
    bool quitting() const override { return false; }
};

std::uint32_t at(const Image& image, int x, int y) {
    const auto* p = image.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                         static_cast<std::size_t>(x)) *
                                            4;
    return static_cast<std::uint32_t>(p[0] << 16 | p[1] << 8 | p[2]);
}

// Returns the number of pixels that differ from the background.
int ink(const Image& image, int left, int top, int right, int bottom) {
    int count = 0;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
            count += at(image, x, y) != 0xFAFBFC;
    return count;
}

} // namespace

TEST_CASE("rectangles and lines lie on whole pixels", "[paint]") {
    SceneUi ui;
    ui.scene.add(figure::RectItem{{10.3F, 10.3F, 20, 20}, figure::rgb(0x2B6CB0), figure::rgb(0xD4700F), 1});
    ui.scene.add(figure::RectItem{{30.3F, 10.3F, 20, 20}, figure::rgb(0x109E73)});
    ui.scene.add(figure::LineItem{{60, 10}, {90, 10}, figure::rgb(0x112233), 1});
    ui.scene.add(figure::LineItem{{60, 20}, {60, 40}, figure::rgb(0x112233), 0.5F});
    ui.scene.add(figure::RectItem{{100, 10, 40, 40}, 0, figure::rgb(0x445566), 4});
    for (const int scale : {1, 2}) {
        CAPTURE(scale);
        const Image image = render_offscreen(ui, 200, 100, static_cast<float>(scale));
        REQUIRE(image.width == 200 * scale);
        REQUIRE(image.height == 100 * scale);
        const int left = scale == 1 ? 10 : 21; // 10.3 or 20.6
        CHECK(at(image, left - 1, 15 * scale) == 0xFAFBFC);
        CHECK(at(image, left, 15 * scale) == 0xD4700F); // a hairline is one pixel at every scale
        CHECK(at(image, left + 1, 15 * scale) == 0x2B6CB0);
        CHECK(at(image, left + 20 * scale - 1, 15 * scale) == 0xD4700F);
        CHECK(at(image, left + 20 * scale, 15 * scale) == 0x109E73); // neighbors touch
        CHECK(ink(image, 60 * scale, 0, 90 * scale, 15 * scale) == 30 * scale);
        CHECK(ink(image, 55 * scale, 20 * scale, 70 * scale, 40 * scale) == 20 * scale);
        CHECK(at(image, 100 * scale, 10 * scale) == 0x445566);
        CHECK(at(image, 104 * scale - 1, 20 * scale) == 0x445566);
        CHECK(at(image, 104 * scale, 20 * scale) == 0xFAFBFC);
        CHECK(at(image, 100 * scale - 1, 20 * scale) == 0xFAFBFC);
    }
}

TEST_CASE("large text is as sharp as small text", "[paint]") {
    // Returns the number of pixels between the colors of text and background per pixel of full text color: as
    // many as Cairo draws. A stretched picture of a smaller size has twice as many.
    const auto half_tones = [](int width, int height, const auto& grey_at) {
        int full = 0, between = 0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const std::uint32_t grey = grey_at(x, y);
                full += grey < 0x10;
                between += grey >= 0x10 && grey < 0xF0;
            }
        CHECK(full > 0);
        return static_cast<double>(between) / std::max(full, 1);
    };
    for (const figure::Font role : {figure::Font::ui, figure::Font::ui_semibold, figure::Font::mono_semibold})
        for (const float size : {17.0F, 22.0F, 28.0F, 34.0F}) {
            SceneUi ui;
            ui.scene.add(figure::TextItem{
                .at = {10, 40}, .text = "0.9552", .font = role, .size = size, .color = figure::rgb(0)});
            ui.scene.width = 200;
            ui.scene.height = 60;
            const Image image = render_offscreen(ui, 200, 60, 1);
            const double ours =
                half_tones(image.width, image.height, [&](int x, int y) { return at(image, x, y) >> 16; });
            const figure::GridItem drawn = figure::draw_pixels(ui.scene, 1, figure::rgb(0xFFFFFF));
            const double cairo = half_tones(drawn.cols, drawn.rows, [&](int x, int y) {
                return (*drawn.pixels)[static_cast<std::size_t>(y * drawn.cols + x)] & 0xFFU;
            });
            CAPTURE(static_cast<int>(role), size, ours, cairo);
            CHECK(ours < 1.25 * cairo);
        }
}

TEST_CASE("cells of a grid have exactly their colours", "[paint]") {
    SceneUi ui;
    auto pixels = std::make_shared<std::vector<figure::Color>>();
    for (std::uint32_t i = 0; i < 7 * 5; ++i)
        pixels->push_back(figure::rgb(i * 487651U & 0xFFFFFFU));
    ui.scene.add(figure::GridItem{{10, 10, 28, 20}, 7, 5, pixels, 0});
    const Image image = render_offscreen(ui, 100, 50, 1);
    int wrong = 0;
    for (int y = 10; y < 30; ++y)
        for (int x = 10; x < 38; ++x)
            wrong += at(image, x, y) !=
                     (static_cast<std::uint32_t>((y - 10) / 4 * 7 + (x - 10) / 4) * 487651U & 0xFFFFFFU);
    CHECK(wrong == 0);
    CHECK(ink(image, 0, 0, 100, 50) == 28 * 20);
}

TEST_CASE("nothing shows outside a clip, and nothing is spent on it", "[paint]") {
    SceneUi ui;
    ui.scene.add(figure::ClipItem{{10, 10, 20, 20}});
    for (int i = 0; i < 1000; ++i)
        ui.scene.add(figure::RectItem{{40, static_cast<float>(i % 50), 10, 10}, figure::rgb(0)});
    ui.scene.add(figure::TextItem{{60, 20}, "unseen", figure::Font::ui, 13, figure::rgb(0)});
    ui.scene.add(figure::RectItem{{0, 0, 50, 50}, figure::rgb(0x123456)});
    const Image clipped = render_offscreen(ui, 100, 60, 1);
    CHECK(ink(clipped, 0, 0, 100, 60) == 400);
    CHECK(ui.vertices == 4);
    ui.scene.add(figure::ClipItem{});
    ui.scene.add(figure::RectItem{{70, 40, 5, 5}, figure::rgb(0x123456)});
    CHECK(ink(render_offscreen(ui, 100, 60, 1), 0, 0, 100, 60) == 425);
}

TEST_CASE("scenes with more vertices than an index can count are drawn", "[paint]") {
    SceneUi ui;
    for (int i = 0; i < 30000; ++i)
        ui.scene.add(figure::RectItem{{static_cast<float>(i % 200), static_cast<float>(i / 200), 1, 1},
                                      figure::rgb(0x123456)});
    const Image image = render_offscreen(ui, 220, 160, 1);
    CHECK(ui.vertices == 120000);
    CHECK(ink(image, 0, 0, 220, 160) == 30000);
    CHECK(at(image, 199, 149) == 0x123456);
}

TEST_CASE("text stands on its baseline, aligned and turned", "[paint]") {
    const auto draw = [](figure::Align align, float angle) {
        SceneUi ui;
        ui.scene.add(
            figure::TextItem{{100, 100}, "HHHH", figure::Font::mono, 15, figure::rgb(0), align, angle});
        const Image image = render_offscreen(ui, 200, 200, 1);
        CHECK(ui.measured == Approx(36));
        return image;
    };
    const Image left = draw(figure::Align::left, 0);
    CHECK(ink(left, 100, 85, 137, 100) > 50);
    CHECK(ink(left, 0, 0, 200, 200) == ink(left, 100, 85, 137, 100));
    const Image right = draw(figure::Align::right, 0);
    CHECK(ink(right, 0, 0, 200, 200) == ink(right, 63, 85, 100, 100));
    const Image center = draw(figure::Align::center, 0);
    CHECK(ink(center, 0, 0, 200, 200) == ink(center, 82, 85, 119, 100));
    CHECK(ink(center, 82, 85, 100, 100) > 0);
    // A quarter turn moves the same pixels to other places.
    const Image down = draw(figure::Align::left, 90);
    CHECK(ink(down, 0, 0, 200, 200) == ink(left, 0, 0, 200, 200));
    CHECK(ink(down, 100, 100, 115, 137) == ink(left, 0, 0, 200, 200));
    const Image up = draw(figure::Align::left, -90);
    CHECK(ink(up, 85, 63, 100, 100) == ink(left, 0, 0, 200, 200));
}

TEST_CASE("curves and polygons have their colour, whichever way the points run", "[paint]") {
    for (const bool turned : {false, true}) {
        SceneUi ui;
        std::vector<figure::Point> points = {{10, 10}, {40, 10}, {10, 40}};
        if (turned)
            std::swap(points[0], points[1]);
        ui.scene.add(figure::PolygonItem{points, figure::rgb(0x109E73)});
        ui.scene.add(figure::CurveItem{{60, 10}, {70, 10}, {80, 10}, {90, 10}, figure::rgb(0x672B40), 3});
        const Image image = render_offscreen(ui, 100, 50, 1);
        CHECK(at(image, 15, 15) == 0x109E73);
        CHECK(at(image, 38, 38) == 0xFAFBFC);
        CHECK(at(image, 75, 10) == 0x672B40);
    }
}

TEST_CASE("the same picture twice is the same bytes", "[paint][offscreen]") {
    SceneUi ui;
    for (int i = 0; i < 40; ++i)
        ui.scene.add(figure::TextItem{{static_cast<float>(i * 7), static_cast<float>(10 + i * 4)},
                                      "weights Ж−0.97",
                                      figure::Font::ui,
                                      13,
                                      figure::rgb(0x171C22),
                                      figure::Align::left,
                                      static_cast<float>(i * 9)});
    const std::string first = png_bytes(render_offscreen(ui, 300, 200, 1.5F));
    CHECK(first.substr(1, 3) == "PNG");
    CHECK(first == png_bytes(render_offscreen(ui, 300, 200, 1.5F)));
}

TEST_CASE("a picture can be taken with the mouse somewhere, and without a display", "[offscreen]") {
    const char* display = std::getenv("DISPLAY");
    const std::string before = display == nullptr ? "" : display;
    unsetenv("DISPLAY");
    SceneUi ui;
    OffscreenOptions options;
    options.mouse = figure::Point{7, 7};
    const Image image = render_offscreen(ui, 100, 50, 2, options);
    CHECK(ui.hovered);
    CHECK(at(image, 5, 5) == 0xFAFBFC);
    render_offscreen(ui, 100, 50, 1);
    CHECK_FALSE(ui.hovered);
    CHECK(ImGui::GetCurrentContext() == nullptr);
    if (!before.empty())
        setenv("DISPLAY", before.c_str(), 1);
}

TEST_CASE("a picture of an impossible size is refused", "[offscreen]") {
    SceneUi ui;
    CHECK_THROWS_AS(render_offscreen(ui, 0, 10, 1), Error);
    CHECK_THROWS_AS(render_offscreen(ui, 100, 100000, 1), Error);
    CHECK_THROWS_AS(render_offscreen(ui, 100, 100, 0), Error);
}

} // namespace headscope::app
