#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::figure {

/// A picture as plain data, in logical pixels, y down; later items cover earlier ones. The window paints a
/// scene, core/figure/figure.h writes one to a file, and tests read it.

/// 0xAABBGGRR, the format of the window's draw lists.
using Color = std::uint32_t;
constexpr Color rgb(std::uint32_t hex, std::uint32_t alpha = 255) {
    return alpha << 24 | (hex & 0xFFU) << 16 | (hex & 0xFF00U) | (hex >> 16 & 0xFFU);
}
constexpr Color with_alpha(Color color, std::uint32_t alpha) {
    return (color & 0x00FFFFFFU) | alpha << 24;
}
constexpr bool is_visible(Color color) {
    return color >> 24 != 0;
}

struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
    bool contains(float px, float py) const { return px >= x && px < x + w && py >= y && py < y + h; }
    bool operator==(const Rect&) const = default;
};

struct Point {
    float x = 0, y = 0;
};

enum class Font : std::uint8_t { ui, ui_medium, ui_semibold, mono, mono_semibold };
enum class Align : std::uint8_t { left, center, right };

/// Filled, outlined (inside the edge) or both; a color with alpha 0 is not drawn.
struct RectItem {
    Rect area;
    Color fill = 0;
    Color stroke = 0;
    float stroke_width = 1;
    float radius = 0;
};
struct LineItem {
    Point from, to;
    Color color = 0;
    float width = 1;
};
/// A cubic Bezier curve.
struct CurveItem {
    Point from, control_from, control_to, to;
    Color color = 0;
    float width = 1;
};
/// A filled convex polygon.
struct PolygonItem {
    std::vector<Point> points;
    Color fill = 0;
};
/// A filled band between two edges, with colors that change along it. Consecutive pairs of points enclose
/// convex pieces. Written to files with a linear gradient from the middle of the first pair to that of the
/// last.
struct BandItem {
    std::vector<Point> edge, other_edge; ///< pairs of points; the same number, at least 2
    std::vector<Color> colors;           ///< one for each pair
};
/// The position of each pair of a band along the gradient, from 0 to 1, never decreasing.
std::vector<float> gradient_stops(const BandItem& band);
/// Returns true if the band has enough points and a visible color.
bool is_drawn(const BandItem& band);
/// One line of text. `at` is the left end, middle or right end of its baseline; `angle` rotates the text
/// around `at`, in degrees, clockwise.
struct TextItem {
    Point at;
    std::string text = {};
    Font font = Font::ui;
    float size = 13;
    Color color = 0;
    Align align = Align::left;
    float angle = 0;
};
/// cols x rows colored cells without gaps, row-major, drawn with sharp edges.
struct GridItem {
    Rect area;
    int cols = 0, rows = 0;
    std::shared_ptr<const std::vector<Color>> pixels;
    std::uint64_t key = 0; ///< equal keys have equal pixels
    bool smooth = false;   ///< the window interpolates colors where a cell is not one pixel
};
/// Hides everything outside the area until the next ClipItem; an empty area ends the clip.
struct ClipItem {
    Rect area;
};

using SceneItem =
    std::variant<RectItem, LineItem, CurveItem, PolygonItem, BandItem, TextItem, GridItem, ClipItem>;

struct Scene {
    float width = 0, height = 0;
    std::vector<SceneItem> items;

    template<class Item>
    void add(Item item) {
        items.emplace_back(std::move(item));
    }
    void move_by(float dx, float dy);
    /// Appends another scene, moved by (dx, dy).
    void append(Scene other, float dx, float dy);
};

/// Adds one line of text; see TextItem.
void add_text(Scene& scene, Point at, std::string text, Font font, float size, Color color,
              Align align = Align::left, float angle = 0);

/// Width of a line of text in logical pixels.
using TextMeasure = std::function<float(std::string_view text, Font font, float size)>;

/// The baseline at which capitals and digits are vertically centered on `center_y`.
constexpr float baseline_for(float center_y, float size) {
    return center_y + 0.364F * size;
}

} // namespace headscope::figure
