#include "app/draw/kit/free_space.h"

#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::app {

namespace {

constexpr float side_margin = 20, foot_margin = 14, place_step = 6;

bool inside(const figure::Rect& inner, const figure::Rect& outer) {
    return inner.x >= outer.x && inner.right() <= outer.right() && inner.y >= outer.y &&
           inner.bottom() <= outer.bottom();
}

figure::Rect around(std::initializer_list<figure::Point> points) {
    const auto by_x = [](figure::Point a, figure::Point b) { return a.x < b.x; };
    const auto by_y = [](figure::Point a, figure::Point b) { return a.y < b.y; };
    const figure::Point left = std::min(points, by_x), right = std::max(points, by_x);
    const figure::Point top = std::min(points, by_y), bottom = std::max(points, by_y);
    constexpr float line = 1;
    return {left.x - line, top.y - line, right.x - left.x + 2 * line, bottom.y - top.y + 2 * line};
}

} // namespace

figure::Rect text_area(const figure::TextItem& text, const figure::TextMeasure& measure) {
    const float width = measure(text.text, text.font, text.size);
    const float left = text.align == figure::Align::left     ? 0
                       : text.align == figure::Align::center ? -width / 2
                                                             : -width;
    const float up = 0.75F * text.size, down = 0.2F * text.size;
    const float turn = text.angle * std::numbers::pi_v<float> / 180;
    float x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    for (const float x : {left, left + width})
        for (const float y : {-up, down}) {
            const float px = text.at.x + x * std::cos(turn) - y * std::sin(turn),
                        py = text.at.y + x * std::sin(turn) + y * std::cos(turn);
            x0 = std::min(x0, px), x1 = std::max(x1, px);
            y0 = std::min(y0, py), y1 = std::max(y1, py);
        }
    return {x0, y0, x1 - x0, y1 - y0};
}

bool overlap(const figure::Rect& a, const figure::Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

figure::Rect free_position_next_to(const figure::Rect& thing, figure::Point size,
                                   std::span<const figure::Rect> taken) {
    constexpr float gap = 2, farthest = 3; // in units of the label's height
    for (float out = gap; out < farthest * size.y; out += size.y) {
        const float right = thing.right() + out, left = thing.x - out - size.x,
                    above = thing.y - out - size.y, below = thing.bottom() + out,
                    middle_x = thing.x + (thing.w - size.x) / 2, middle_y = thing.y + (thing.h - size.y) / 2;
        for (const figure::Point at : {figure::Point{right, middle_y},
                                       {left, middle_y},
                                       {middle_x, above},
                                       {middle_x, below},
                                       {right, above},
                                       {right, below},
                                       {left, above},
                                       {left, below}}) {
            const figure::Rect area{at.x, at.y, size.x, size.y};
            if (std::ranges::none_of(taken, [&](const figure::Rect& other) { return overlap(area, other); }))
                return area;
        }
    }
    return {thing.right() + gap, thing.y + (thing.h - size.y) / 2, size.x, size.y};
}

FreeSpace::FreeSpace(const Picture& picture, const figure::TextMeasure& measure, const figure::Rect& area)
    : area_(area) {
    for (const MatrixGrid& grid : picture.grids)
        add_taken(grid.area, data_weight);
    for (const Hotspot& spot : picture.hotspots)
        add_taken(spot.area);
    for (const Slider& slider : picture.sliders)
        add_taken(slider.track);
    for (const DragArea& drag : picture.drags)
        add_taken(drag.area);
    for (const TextField& field : picture.fields)
        add_taken(field.area);
    for (const figure::SceneItem& item : picture.scene.items)
        std::visit(
            Overloaded{[&](const figure::RectItem& drawn) { add_taken(drawn.area); },
                       [&](const figure::LineItem& drawn) {
                           add_taken(around({drawn.from, drawn.to}));
                       },
                       [&](const figure::CurveItem& drawn) {
                           add_taken(around({drawn.from, drawn.control_from, drawn.control_to, drawn.to}));
                       },
                       [&](const figure::PolygonItem& drawn) {
                           for (const figure::Point& corner : drawn.points)
                               add_taken(around({corner, drawn.points.front()}));
                       },
                       [&](const figure::BandItem& drawn) {
                           for (std::size_t i = 1; i < drawn.edge.size(); ++i)
                               add_taken(around({drawn.edge[i - 1], drawn.other_edge[i]}));
                       },
                       [&](const figure::TextItem& drawn) { add_taken(text_area(drawn, measure)); },
                       [&](const figure::GridItem& drawn) { add_taken(drawn.area); },
                       [](const figure::ClipItem&) {}},
            item);
}

/// Skips areas inside an area that is already taken, such as the number in a cell.
void FreeSpace::add_taken(const figure::Rect& area, float weight) {
    if (overlap(area, area_) && !inside(area_, area) &&
        std::ranges::none_of(taken_, [&](const Taken& known) { return inside(area, known.area); }))
        taken_.push_back({area, weight});
}

float FreeSpace::covered_weight(const figure::Rect& by, float most) const {
    float sum = 0;
    for (auto thing = taken_.begin(); thing != taken_.end() && sum <= most; ++thing)
        if (const figure::Rect& area = thing->area; overlap(by, area))
            sum += thing->weight * (std::min(by.right(), area.right()) - std::max(by.x, area.x)) *
                   (std::min(by.bottom(), area.bottom()) - std::max(by.y, area.y));
    return sum;
}

figure::Rect FreeSpace::place(const figure::Rect& wanted) const {
    figure::Rect best = wanted;
    float least = covered_weight(wanted), way = 0;
    if (least == 0)
        return best;
    const float left = area_.x + side_margin, right = area_.right() - side_margin - wanted.w,
                lowest = area_.bottom() - foot_margin - wanted.h;
    for (const float x : {left, (left + right) / 2, right})
        for (float y = lowest; y >= area_.y + foot_margin; y -= place_step) {
            const figure::Rect place{x, y, wanted.w, wanted.h};
            const float from_wanted = std::hypot(x - wanted.x, y - wanted.y);
            if (least == 0 && from_wanted >= way)
                continue;
            const float here = covered_weight(place, least);
            if (here < least || (here == least && from_wanted < way))
                best = place, least = here, way = from_wanted;
        }
    return best;
}

} // namespace headscope::app
