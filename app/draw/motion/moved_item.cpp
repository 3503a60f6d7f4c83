#include "app/draw/motion/moved_item.h"

#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Point;
using figure::Rect;

constexpr float least_text = 7, most_text = 40;

ItemPlace place_of_points(std::initializer_list<Point> points) {
    float left = 1e9F, right = -1e9F, top = 1e9F, bottom = -1e9F;
    for (const Point& p : points) {
        left = std::min(left, p.x);
        right = std::max(right, p.x);
        top = std::min(top, p.y);
        bottom = std::max(bottom, p.y);
    }
    return {{(left + right) / 2, (top + bottom) / 2}, right - left, bottom - top};
}

ItemPlace place_of_rect(const Rect& area) {
    return {{area.x + area.w / 2, area.y + area.h / 2}, area.w, area.h};
}

figure::Color paler(figure::Color color, float opacity) {
    return figure::with_alpha(
        color, static_cast<std::uint32_t>(std::lround(static_cast<float>(color >> 24) * opacity)));
}

} // namespace

Rect between(const Rect& a, const Rect& b, float t) {
    return {std::lerp(a.x, b.x, t), std::lerp(a.y, b.y, t), std::lerp(a.w, b.w, t), std::lerp(a.h, b.h, t)};
}

std::optional<ItemPlace> place_of(const figure::SceneItem& item) {
    using Place = std::optional<ItemPlace>;
    return std::visit(
        Overloaded{[](const figure::RectItem& i) -> Place { return place_of_rect(i.area); },
                   [](const figure::GridItem& i) -> Place { return place_of_rect(i.area); },
                   [](const figure::LineItem& i) -> Place {
                       return place_of_points({i.from, i.to});
                   },
                   [](const figure::CurveItem& i) -> Place {
                       return place_of_points({i.from, i.to});
                   },
                   [](const figure::PolygonItem& i) -> Place {
                       return i.points.size() < 3 ? Place()
                                                  : place_of_points({i.points[0], i.points[1], i.points[2]});
                   },
                   [](const figure::BandItem& i) -> Place {
                       return i.edge.empty() ? Place() : place_of_points({i.edge.front(), i.edge.back()});
                   },
                   [](const figure::TextItem& i) -> Place {
                       constexpr float above = 0.36F;
                       const float beside = i.align == figure::Align::left    ? 1.0F
                                            : i.align == figure::Align::right ? -1.0F
                                                                              : 0.0F;
                       return ItemPlace{{i.at.x + beside, i.at.y - above * i.size}, 0, i.size};
                   },
                   [](const figure::ClipItem&) -> Place { return {}; }},
        item);
}

bool move_item(figure::SceneItem& item, const Mapping& mapping) {
    const auto point = [&](Point& p) { p = mapping.point(p); };
    const float scale = std::min(mapping.across(), mapping.down());
    return std::visit(Overloaded{[&](figure::RectItem& i) {
                                     i.area = mapping.rect(i.area);
                                     i.radius *= std::min(scale, 1.0F);
                                     return true;
                                 },
                                 [&](figure::GridItem& i) {
                                     i.area = mapping.rect(i.area);
                                     return true;
                                 },
                                 [&](figure::LineItem& i) {
                                     point(i.from);
                                     point(i.to);
                                     return true;
                                 },
                                 [&](figure::CurveItem& i) {
                                     for (Point* const p : {&i.from, &i.control_from, &i.control_to, &i.to})
                                         point(*p);
                                     return true;
                                 },
                                 [&](figure::PolygonItem& i) {
                                     std::ranges::for_each(i.points, point);
                                     return true;
                                 },
                                 [&](figure::BandItem& i) {
                                     std::ranges::for_each(i.edge, point);
                                     std::ranges::for_each(i.other_edge, point);
                                     return true;
                                 },
                                 [&](figure::TextItem& i) {
                                     constexpr float alike = 0.12F;
                                     // The middle of the line stays in the middle of its cell.
                                     const float middle = 0.364F * i.size;
                                     Point at{i.at.x, i.at.y - middle};
                                     point(at);
                                     if (std::abs(scale - 1) > alike)
                                         i.size = 2 * std::round(i.size * scale / 2);
                                     i.at = {at.x, figure::baseline_for(at.y, i.size)};
                                     return i.size >= least_text && i.size <= most_text;
                                 },
                                 [](figure::ClipItem&) { return false; }},
                      item);
}

std::optional<figure::SceneItem> fade_item(figure::SceneItem& item, float opacity, figure::Color background) {
    using Veil = std::optional<figure::SceneItem>;
    const auto fade = [&](figure::Color& color) { color = paler(color, opacity); };
    return std::visit(
        Overloaded{[&](figure::RectItem& i) -> Veil {
                       fade(i.fill);
                       fade(i.stroke);
                       return {};
                   },
                   [&](figure::LineItem& i) -> Veil {
                       fade(i.color);
                       return {};
                   },
                   [&](figure::CurveItem& i) -> Veil {
                       fade(i.color);
                       return {};
                   },
                   [&](figure::PolygonItem& i) -> Veil {
                       fade(i.fill);
                       return {};
                   },
                   [&](figure::BandItem& i) -> Veil {
                       std::ranges::for_each(i.colors, fade);
                       return {};
                   },
                   [&](figure::TextItem& i) -> Veil {
                       fade(i.color);
                       return {};
                   },
                   [&](figure::GridItem& i) -> Veil {
                       return figure::RectItem{
                           .area = i.area,
                           .fill = figure::with_alpha(
                               background, static_cast<std::uint32_t>(std::lround(255 * (1 - opacity))))};
                   },
                   [](figure::ClipItem&) -> Veil { return {}; }},
        item);
}

} // namespace headscope::app
