#include "app/draw/pages/links.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float thinnest_link = 0.8F, thickest_link = 4.0F;
constexpr float shortest_numbered = 64.0F;
constexpr float handle_side = 12.0F;
constexpr std::uint32_t faint_light = 84, faint_dark = 110;

bool overlap(const figure::Rect& a, const figure::Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

figure::Rect square_at(figure::Point center, float side) {
    return {center.x - side / 2, center.y - side / 2, side, side};
}

/// The hover area of a line from a word to itself, which covers the whole loop.
figure::Rect box_of(const figure::CurveItem& loop) {
    const figure::Point top = on_curve(loop, 0.5F), left = on_curve(loop, 0.25F),
                        right = on_curve(loop, 0.75F);
    const auto [x0, x1] = std::minmax({loop.from.x, loop.to.x, top.x, left.x, right.x});
    const auto [y0, y1] = std::minmax({loop.from.y, loop.to.y, top.y, left.y, right.y});
    // Larger than the loop, so that the outline does not cover the line.
    constexpr float room = 4;
    return {x0 - room, y0 - room, x1 - x0 + 2 * room, y1 - y0 + 2 * room};
}

/// A position on the curve, near its center, that overlaps no area in `taken`; otherwise the center.
figure::Rect free_place(const figure::CurveItem& curve, const std::vector<figure::Rect>& taken) {
    for (const float t : {0.5F, 0.42F, 0.58F, 0.34F, 0.66F, 0.26F, 0.74F, 0.18F, 0.82F}) {
        const figure::Rect place = square_at(on_curve(curve, t), handle_side);
        if (std::ranges::none_of(taken, [&](const figure::Rect& other) { return overlap(place, other); }))
            return place;
    }
    return square_at(on_curve(curve, 0.5F), handle_side);
}

/// The section of a curve from `from` to `to`, both 0 to 1.
figure::CurveItem part_of(const figure::CurveItem& curve, float from, float to) {
    const auto slope = [&](float t) {
        const float u = 1 - t;
        const auto along = [&](float a, float b, float c, float d) {
            return 3 * (u * u * (b - a) + 2 * u * t * (c - b) + t * t * (d - c));
        };
        return figure::Point{along(curve.from.x, curve.control_from.x, curve.control_to.x, curve.to.x),
                             along(curve.from.y, curve.control_from.y, curve.control_to.y, curve.to.y)};
    };
    const float third = (to - from) / 3;
    const figure::Point a = on_curve(curve, from), d = on_curve(curve, to), sa = slope(from), sd = slope(to);
    figure::CurveItem part = curve;
    part.from = a;
    part.control_from = {a.x + sa.x * third, a.y + sa.y * third};
    part.control_to = {d.x - sd.x * third, d.y - sd.y * third};
    part.to = d;
    return part;
}

/// About 6 pixels of line and 4 of gap, so that the line is recognizable without color.
void draw_dashes(Picture& picture, const figure::CurveItem& curve) {
    const float length =
        std::hypot(curve.control_from.x - curve.from.x, curve.control_from.y - curve.from.y) +
        std::hypot(curve.control_to.x - curve.control_from.x, curve.control_to.y - curve.control_from.y) +
        std::hypot(curve.to.x - curve.control_to.x, curve.to.y - curve.control_to.y);
    const int dashes = std::clamp(static_cast<int>(length / 10), 2, 60);
    for (int n = 0; n < dashes; ++n)
        picture.scene.add(part_of(curve, static_cast<float>(n) / static_cast<float>(dashes),
                                  (static_cast<float>(n) + 0.6F) / static_cast<float>(dashes)));
}

void draw_link(Picture& picture, figure::CurveItem curve, float width, figure::Color color, bool dashed) {
    const figure::Point tip = curve.to;
    const float dx = tip.x - curve.control_to.x, dy = tip.y - curve.control_to.y;
    const float length = std::max(std::hypot(dx, dy), 1e-3F);
    const figure::Point along{dx / length, dy / length};
    const float head = 5.0F + 1.5F * width, half = 2.0F + 0.9F * width;
    const figure::Point base{tip.x - along.x * head, tip.y - along.y * head};
    curve.to = base;
    curve.color = color;
    curve.width = width;
    if (dashed)
        draw_dashes(picture, curve);
    else
        picture.scene.add(curve);
    picture.scene.add(figure::PolygonItem{{tip,
                                           {base.x - along.y * half, base.y + along.x * half},
                                           {base.x + along.y * half, base.y - along.x * half}},
                                          color});
}

void draw_plate(Picture& picture, const FigureWeights& reading, const Link& link, const figure::Rect& handle,
                float end) {
    const DrawContext& context = reading.context();
    const std::string text = reading.text(link.value);
    const float width = context.measure(text, figure::Font::mono_semibold, 12) + 10;
    const figure::Point center{handle.x + handle.w / 2, handle.y + handle.h / 2};
    const figure::Rect plate{center.x - width / 2, center.y - 10, width, 20};
    picture.scene.add(figure::RectItem{
        .area = plate, .fill = context.theme.canvas, .stroke = context.theme.ink, .radius = 0});
    add_text(picture.scene, {center.x, figure::baseline_for(center.y, 12)}, text, figure::Font::mono_semibold,
             12, context.theme.ink, figure::Align::center);
    reading.add_cell(picture, link.i, link.j, plate, end);
}

} // namespace

figure::Point on_curve(const figure::CurveItem& curve, float t) {
    const float u = 1 - t;
    const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    return {a * curve.from.x + b * curve.control_from.x + c * curve.control_to.x + d * curve.to.x,
            a * curve.from.y + b * curve.control_from.y + c * curve.control_to.y + d * curve.to.y};
}

float link_width(float value, float end) {
    return thinnest_link + (thickest_link - thinnest_link) * std::min(std::abs(value) / end, 1.0F);
}

void draw_links(Picture& picture, const FigureWeights& reading, const std::vector<Link>& links, float end,
                bool loops, const std::function<figure::CurveItem(const Link&)>& path) {
    const DrawContext& context = reading.context();
    const std::uint32_t faint = context.theme.dark ? faint_dark : faint_light;
    std::vector<figure::CurveItem> curves;
    std::vector<figure::Rect> handles;
    for (const Link& link : links) {
        curves.push_back(path(link));
        handles.push_back(link.i == link.j && loops ? box_of(curves.back())
                                                    : free_place(curves.back(), handles));
    }
    for (const bool strong : {false, true})
        for (std::size_t n = 0; n < links.size(); ++n)
            if (links[n].in_focused_row == strong) {
                const figure::Color color = reading.line_color(links[n].value);
                draw_link(picture, curves[n], link_width(links[n].value, end),
                          strong ? color : figure::with_alpha(color, faint),
                          reading.kind() == HeadsView::difference && links[n].value < 0);
            }
    const FocusedCell focused = focused_cell(context);
    const auto cell = current_cell(context.shown, context.view);
    for (std::size_t n = 0; n < links.size(); ++n) {
        const Link& link = links[n];
        // A mean or a difference has no cell in the trace: its line is identified by row and key.
        const bool loop = link.i == link.j && loops;
        const float chord = std::hypot(curves[n].to.x - curves[n].from.x, curves[n].to.y - curves[n].from.y);
        // On a short line, the number would cover the words.
        const bool here = !loop && chord > shortest_numbered && link.i == focused.row &&
                          link.j == focused.key &&
                          (reading.kind() != HeadsView::each || reading.address(link.i, link.j) == cell);
        if (here)
            draw_plate(picture, reading, link, handles[n], end);
        else
            reading.add_cell(picture, link.i, link.j, handles[n], end);
    }
}

} // namespace headscope::app
