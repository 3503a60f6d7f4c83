#include "app/views/controls/items.h"
#include "app/views/surface.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace headscope::app {
namespace {

// A baked font and the factor that scales its glyphs to the wanted size (1 if it is baked at that size).
struct Face {
    ImFont* font;
    float factor;
};

Face face_of(const Surface& surface, ImFont* font, float size) {
    float factor = size * surface.scale() / font->FontSize;
    if (std::abs(factor - 1) < 0.002F)
        factor = 1;
    return {font, factor};
}

/// Visits each character that is not a control character.
template<class Visit>
void each_character(std::string_view text, Visit visit) {
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        unsigned int code_point = static_cast<unsigned char>(*at);
        at += code_point < 0x80 ? 1 : std::max(1, ImTextCharFromUtf8(&code_point, at, end));
        if (code_point >= ' ')
            visit(static_cast<ImWchar>(code_point));
    }
}

float width_of(const Face& face, std::string_view text) {
    float width = 0;
    each_character(text, [&](ImWchar c) { width += face.font->GetCharAdvance(c); });
    return width * face.factor;
}

bool visible(figure::Color color) {
    return color >> 24 != 0;
}

class Painter {
public:
    Painter(float x, float y, Surface& surface, ImDrawList& list)
        : x_(x), y_(y), scale_(surface.scale()), surface_(surface), list_(list) {}
    ~Painter() { unclip(); }
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    void operator()(const figure::RectItem& item) const {
        const ImVec4 r = snapped(item.area);
        if (hidden(r.x, r.y, r.z, r.w))
            return;
        const float radius = item.radius * scale_;
        if (visible(item.fill))
            list_.AddRectFilled({r.x, r.y}, {r.z, r.w}, item.fill, radius);
        if (!visible(item.stroke) || item.stroke_width <= 0)
            return;
        const float width = pixel_width(item.stroke_width);
        if (radius > 0) {
            // AddRect centers its line half a pixel inside the given corners.
            const float in = (width - 1) / 2;
            list_.AddRect({r.x + in, r.y + in}, {r.z - in, r.w - in}, item.stroke,
                          std::max(0.0F, radius - width / 2), 0, width);
        } else {
            frame(r, width, item.stroke);
        }
    }

    void operator()(const figure::LineItem& item) const {
        if (!visible(item.color))
            return;
        const ImVec2 from = place(item.from);
        const ImVec2 to = place(item.to);
        const float width = pixel_width(item.width);
        if (from.x == to.x || from.y == to.y) {
            const bool upright = from.x == to.x && from.y != to.y;
            const float left = std::min(from.x, to.x), right = std::max(from.x, to.x);
            const float top = std::min(from.y, to.y), bottom = std::max(from.y, to.y);
            if (upright)
                bar(std::round(left - width / 2), std::round(top), width,
                    std::round(bottom) - std::round(top), item.color);
            else
                bar(std::round(left), std::round(top - width / 2), std::round(right) - std::round(left),
                    width, item.color);
            return;
        }
        const std::array<ImVec2, 2> points = {from, to};
        if (!hidden(points, item.width * scale_)) {
            list_.PathLineTo(from);
            list_.PathLineTo(to);
            stroke(item.color, item.width);
        }
    }

    void operator()(const figure::CurveItem& item) const {
        const std::array<ImVec2, 4> points = {place(item.from), place(item.control_from),
                                              place(item.control_to), place(item.to)};
        if (!visible(item.color) || hidden(points, item.width * scale_))
            return;
        list_.PathLineTo(points[0]);
        list_.PathBezierCubicCurveTo(points[1], points[2], points[3]);
        stroke(item.color, item.width);
    }

    void operator()(const figure::PolygonItem& item) const {
        if (item.points.size() < 3 || !visible(item.fill))
            return;
        std::vector<ImVec2> points;
        std::ranges::transform(item.points, std::back_inserter(points),
                               [&](figure::Point p) { return place(p); });
        if (hidden(points, 1))
            return;
        // ImGui's antialiased edge grows outward only if the points run clockwise.
        float twice_area = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const ImVec2 a = points[i], b = points[(i + 1) % points.size()];
            twice_area += a.x * b.y - b.x * a.y;
        }
        if (twice_area < 0)
            std::ranges::reverse(points);
        list_.AddConvexPolyFilled(points.data(), static_cast<int>(points.size()), item.fill);
    }

    void operator()(const figure::BandItem& item) const;
    void operator()(const figure::TextItem& item) const;

    void operator()(const figure::GridItem& item) const {
        const ImVec4 r = snapped(item.area);
        const auto cells = static_cast<std::size_t>(std::max(0, item.cols)) *
                           static_cast<std::size_t>(std::max(0, item.rows));
        if (cells == 0 || !item.pixels || item.pixels->size() < cells || hidden(r.x, r.y, r.z, r.w))
            return;
        if (const ImTextureID texture = surface_.texture(item)) {
            list_.AddImage(texture, {r.x, r.y}, {r.z, r.w});
            return;
        }
        const float w = (r.z - r.x) / static_cast<float>(item.cols),
                    h = (r.w - r.y) / static_cast<float>(item.rows);
        for (std::size_t i = 0; i < cells; ++i) {
            const auto col = static_cast<float>(i % static_cast<std::size_t>(item.cols));
            const auto row = static_cast<float>(i / static_cast<std::size_t>(item.cols));
            const float left = std::round(r.x + col * w), top = std::round(r.y + row * h);
            bar(left, top, std::round(r.x + (col + 1) * w) - left, std::round(r.y + (row + 1) * h) - top,
                (*item.pixels)[i]);
        }
    }

    void operator()(const figure::ClipItem& item) {
        unclip();
        if (item.area.w <= 0 || item.area.h <= 0)
            return;
        const ImVec4 r = snapped(item.area);
        list_.PushClipRect({r.x, r.y}, {r.z, r.w}, true);
        clipped_ = true;
    }

private:
    void unclip() {
        if (clipped_)
            list_.PopClipRect();
        clipped_ = false;
    }

    ImVec2 place(figure::Point p) const { return {x_ + p.x * scale_, y_ + p.y * scale_}; }

    // Left, top, right, bottom. Snaps edges, not sizes, so that neighbors touch; nothing shrinks to 0.
    ImVec4 snapped(const figure::Rect& area) const {
        const float left = std::round(x_ + area.x * scale_), top = std::round(y_ + area.y * scale_);
        float right = std::round(x_ + area.right() * scale_),
              bottom = std::round(y_ + area.bottom() * scale_);
        if (area.w > 0)
            right = std::max(right, left + 1);
        if (area.h > 0)
            bottom = std::max(bottom, top + 1);
        return {left, top, right, bottom};
    }

    // A hairline (1 or less) stays one pixel at every scale.
    float pixel_width(float width) const {
        return width <= 1 ? 1 : std::max(1.0F, std::round(width * scale_));
    }

    bool hidden(float left, float top, float right, float bottom) const {
        const ImVec2 low = list_.GetClipRectMin(), high = list_.GetClipRectMax();
        return right <= low.x || bottom <= low.y || left >= high.x || top >= high.y || right <= left ||
               bottom <= top;
    }

    template<class Points>
    bool hidden(const Points& points, float margin) const {
        const auto [left, right] = std::ranges::minmax(points, {}, &ImVec2::x);
        const auto [top, bottom] = std::ranges::minmax(points, {}, &ImVec2::y);
        const float m = margin + 1;
        return hidden(left.x - m, top.y - m, right.x + m, bottom.y + m);
    }

    void bar(float left, float top, float width, float height, figure::Color color) const {
        if (!visible(color) || hidden(left, top, left + width, top + height))
            return;
        list_.PrimReserve(6, 4);
        list_.PrimRect({left, top}, {left + width, top + height}, color);
    }

    void frame(const ImVec4& r, float width, figure::Color color) const {
        const float w = r.z - r.x, h = r.w - r.y;
        const float line = std::min({width, w / 2, h / 2});
        if (line < width) {
            bar(r.x, r.y, w, h, color);
            return;
        }
        bar(r.x, r.y, w, line, color);
        bar(r.x, r.w - line, w, line, color);
        bar(r.x, r.y + line, line, h - 2 * line, color);
        bar(r.z - line, r.y + line, line, h - 2 * line, color);
    }

    // ImGui draws no line thinner than a pixel. Thinner lines get a lower alpha instead.
    void stroke(figure::Color color, float width) const {
        const float pixels = width * scale_;
        if (pixels < 1)
            color = figure::with_alpha(
                color, static_cast<std::uint32_t>(static_cast<float>(color >> 24) * pixels + 0.5F));
        list_.PathStroke(color, 0, std::max(1.0F, pixels));
    }

    float x_, y_, scale_;
    Surface& surface_;
    ImDrawList& list_;
    bool clipped_ = false;
};

/// Two edges and, one pixel outside of each, transparent points for smooth edges.
void Painter::operator()(const figure::BandItem& item) const {
    if (!is_drawn(item))
        return;
    const std::size_t pairs = item.edge.size();
    std::vector<ImVec2> points;
    points.reserve(2 * pairs);
    for (std::size_t i = 0; i < pairs; ++i) {
        points.push_back(place(item.edge[i]));
        points.push_back(place(item.other_edge[i]));
    }
    if (hidden(points, 1))
        return;
    const auto faded = [](figure::Color color, float share) {
        return figure::with_alpha(color,
                                  static_cast<std::uint32_t>(static_cast<float>(color >> 24) * share + 0.5F));
    };
    const ImVec2 white = ImGui::GetDrawListSharedData()->TexUvWhitePixel;
    constexpr std::size_t across = 4;
    list_.PrimReserve(static_cast<int>((pairs - 1) * (across - 1) * 6), static_cast<int>(pairs * across));
    const unsigned int first = list_._VtxCurrentIdx;
    for (std::size_t i = 0; i < pairs; ++i) {
        ImVec2 a = points[2 * i], b = points[2 * i + 1];
        float dx = b.x - a.x, dy = b.y - a.y;
        const float width = std::sqrt(dx * dx + dy * dy);
        dx = width > 0 ? dx / width : 0;
        dy = width > 0 ? dy / width : 1;
        // Half of the transparent edge is inside; a band thinner than a pixel is paler instead.
        const float in = std::min(width / 2, 0.5F);
        const figure::Color color = faded(item.colors[i], std::min(width, 1.0F));
        const float out = 1 - in;
        list_.PrimWriteVtx({a.x - dx * out, a.y - dy * out}, white, faded(color, 0));
        list_.PrimWriteVtx({a.x + dx * in, a.y + dy * in}, white, color);
        list_.PrimWriteVtx({b.x - dx * in, b.y - dy * in}, white, color);
        list_.PrimWriteVtx({b.x + dx * out, b.y + dy * out}, white, faded(color, 0));
    }
    for (std::size_t i = 0; i + 1 < pairs; ++i)
        for (std::size_t n = 0; n + 1 < across; ++n) {
            const auto at = first + static_cast<unsigned int>(i * across + n);
            for (const unsigned int corner : {0U, 1U, 5U, 0U, 5U, 4U})
                list_.PrimWriteIdx(static_cast<ImDrawIdx>(at + corner));
        }
}

void Painter::operator()(const figure::TextItem& item) const {
    if (item.text.empty() || !visible(item.color))
        return;
    const ImVec2 at = place(item.at);
    const float em = item.size * scale_;
    if (item.angle == 0 && hidden(-FLT_MAX, at.y - 1.2F * em, FLT_MAX, at.y + 0.5F * em))
        return;

    const figure::ShapedText* const shaped = surface_.shaped(item.text, item.font, em);
    if (shaped == nullptr)
        surface_.need_glyphs(item.text);
    ImFont* const font_to_use = shaped != nullptr ? surface_.font(item.font, item.size)
                                                  : surface_.font_for(item.text, item.font, item.size);
    const Face face = face_of(surface_, font_to_use, item.size);
    const float width = shaped != nullptr ? shaped->advance : width_of(face, item.text);
    const float before = item.align == figure::Align::left     ? 0
                         : item.align == figure::Align::center ? width / 2
                                                               : width;
    const ImVec2 origin = {std::round(at.x), std::round(at.y)};
    float cos = 1, sin = 0;
    if (item.angle == 0) {
        if (hidden(at.x - before - em, at.y - 2 * em, at.x - before + width + em, at.y + 2 * em))
            return;
    } else {
        const float reach = width + 2 * em;
        if (hidden(at.x - reach, at.y - reach, at.x + reach, at.y + reach))
            return;
        const float quarter = item.angle / 90;
        if (quarter == std::round(quarter)) { // exact, so that vertical text stays on whole pixels
            constexpr std::array<float, 5> sines = {0, 1, 0, -1, 0};
            const auto turn = static_cast<std::size_t>((static_cast<long>(quarter) % 4 + 4) % 4);
            sin = sines[turn];
            cos = sines[turn + 1];
        } else {
            sin = std::sin(item.angle * std::numbers::pi_v<float> / 180);
            cos = std::cos(item.angle * std::numbers::pi_v<float> / 180);
        }
    }
    const auto turned = [&](float dx, float dy) {
        return ImVec2(origin.x + dx * cos - dy * sin, origin.y + dx * sin + dy * cos);
    };

    if (shaped != nullptr) {
        const auto layer = [&](const figure::GridItem& picture, figure::Color tint) {
            const ImTextureID texture = picture.pixels ? surface_.texture(picture) : nullptr;
            if (texture == nullptr)
                return;
            const figure::Rect& r = picture.area;
            const float left = std::round(r.x - before);
            list_.AddImageQuad(texture, turned(left, r.y), turned(left + r.w, r.y),
                               turned(left + r.w, r.bottom()), turned(left, r.bottom()), {0, 0}, {1, 0},
                               {1, 1}, {0, 1}, tint);
        };
        layer(shaped->image, item.color);
        layer(shaped->colored, item.color | 0xFFFFFFU);
        return;
    }
    const ImFont& font = *face.font;
    const float f = face.factor;
    float pen = -before + (item.angle == 0 ? at.x - origin.x : 0);
    each_character(item.text, [&](ImWchar c) {
        const ImFontGlyph& glyph = *font.FindGlyph(c);
        if (glyph.Visible) {
            // Glyphs baked at this size are sharp only on whole pixels.
            const float start = f == 1 ? std::round(pen) : pen;
            const float left = start + glyph.X0 * f, right = start + glyph.X1 * f;
            const float top = (glyph.Y0 - font.Ascent) * f, bottom = (glyph.Y1 - font.Ascent) * f;
            list_.PrimReserve(6, 4);
            list_.PrimQuadUV(turned(left, top), turned(right, top), turned(right, bottom),
                             turned(left, bottom), {glyph.U0, glyph.V0}, {glyph.U1, glyph.V0},
                             {glyph.U1, glyph.V1}, {glyph.U0, glyph.V1}, item.color);
        }
        pen += glyph.AdvanceX * f;
    });
}

} // namespace

void paint(const figure::Scene& scene, float x, float y, Surface& surface, ImDrawList& list) {
    Painter painter(x, y, surface, list);
    for (const figure::SceneItem& item : scene.items)
        std::visit(painter, item);
    ScreenObserver* const observer = surface.observer();
    if (observer == nullptr)
        return;
    for (const figure::SceneItem& item : scene.items)
        if (const auto* const text = std::get_if<figure::TextItem>(&item))
            observer->text(text->text, x + text->at.x * surface.scale(), y + text->at.y * surface.scale(),
                           list);
}

figure::TextMeasure surface_measure(Surface& surface) {
    return [&surface](std::string_view text, figure::Font role, float size) {
        const figure::ShapedText* const shaped = surface.shaped(text, role, size * surface.scale());
        return (shaped != nullptr ? shaped->advance
                                  : width_of(face_of(surface, surface.font(role, size), size), text)) /
               surface.scale();
    };
}

} // namespace headscope::app
