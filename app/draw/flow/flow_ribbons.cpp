#include "app/draw/flow/flow_ribbons.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::app {

namespace {

constexpr int ribbon_pieces = 20, corner_pieces = 8;

figure::Color mixed_color(figure::Color a, figure::Color b, float t) {
    figure::Color out = 0;
    for (const int shift : {0, 8, 16, 24}) {
        const auto from = static_cast<float>(a >> shift & 0xFFU), to = static_cast<float>(b >> shift & 0xFFU);
        out |= static_cast<figure::Color>(std::lround(from + (to - from) * t)) << shift;
    }
    return out;
}

/// The point of a curve that starts and ends horizontally: a cubic Bezier curve whose control points are in
/// the middle between both ends.
figure::Point on_wave(figure::Point from, figure::Point to, float t) {
    const float u = 1 - t, middle = (from.x + to.x) / 2;
    const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    return {a * from.x + (b + c) * middle + d * to.x, (a + b) * from.y + (c + d) * to.y};
}

} // namespace

RibbonEnd right_of(const figure::Rect& row, figure::Color color, float height) {
    const float middle = row.y + row.h / 2;
    return {row.right(), middle - height / 2, middle + height / 2, color};
}

RibbonEnd left_of(const figure::Rect& row, figure::Color color, float height) {
    const float middle = row.y + row.h / 2;
    return {row.x, middle - height / 2, middle + height / 2, color};
}

figure::BandItem ribbon_part(const RibbonEnd& from, const RibbonEnd& to, float t) {
    figure::BandItem band;
    const bool straight = from.top == to.top && from.bottom == to.bottom;
    const int pieces = straight ? 1 : ribbon_pieces;
    for (int n = 0; n <= pieces; ++n) {
        const float at = t * static_cast<float>(n) / static_cast<float>(pieces);
        band.edge.push_back(on_wave({from.x, from.top}, {to.x, to.top}, at));
        band.other_edge.push_back(on_wave({from.x, from.bottom}, {to.x, to.bottom}, at));
        band.colors.push_back(mixed_color(from.color, to.color, at));
    }
    return band;
}

figure::BandItem ribbon(const RibbonEnd& from, const RibbonEnd& to) {
    return ribbon_part(from, to, 1);
}

figure::Point on_ribbon(const RibbonEnd& from, const RibbonEnd& to, float t) {
    return on_wave({from.x, (from.top + from.bottom) / 2}, {to.x, (to.top + to.bottom) / 2}, t);
}

figure::BandItem turning_strand(figure::Point from, figure::Point to, float thickness,
                                figure::Color from_color, figure::Color to_color) {
    const float turn = to.y < from.y ? -1.0F : 1.0F, half = thickness / 2;
    const float radius = std::min({thickness * 0.9F + 3, std::abs(to.x - from.x), std::abs(to.y - from.y)});
    struct Step {
        figure::Point at, normal;
    };
    std::vector<Step> steps{{from, {0, turn}}};
    for (int n = 0; n <= corner_pieces; ++n) {
        const float angle =
            std::numbers::pi_v<float> / 2 * static_cast<float>(n) / static_cast<float>(corner_pieces);
        // The center of the corner is inside the turn.
        steps.push_back(
            {{to.x - radius + radius * std::sin(angle), from.y + turn * (radius - radius * std::cos(angle))},
             {-std::sin(angle), turn * std::cos(angle)}});
    }
    steps.push_back({to, {-1, 0}});
    float length = 0;
    std::vector<float> lengths{0};
    for (std::size_t n = 1; n < steps.size(); ++n) {
        length += std::hypot(steps[n].at.x - steps[n - 1].at.x, steps[n].at.y - steps[n - 1].at.y);
        lengths.push_back(length);
    }
    figure::BandItem band;
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const auto& [at, normal] = steps[n];
        band.edge.push_back({at.x + normal.x * half, at.y + normal.y * half});
        band.other_edge.push_back({at.x - normal.x * half, at.y - normal.y * half});
        band.colors.push_back(mixed_color(from_color, to_color, length > 0 ? lengths[n] / length : 0));
    }
    return band;
}

figure::BandItem strand_part(const figure::BandItem& strand, float t) {
    std::vector<float> lengths{0};
    const auto middle = [&](std::size_t n) {
        return figure::Point{(strand.edge[n].x + strand.other_edge[n].x) / 2,
                             (strand.edge[n].y + strand.other_edge[n].y) / 2};
    };
    for (std::size_t n = 1; n < strand.edge.size(); ++n)
        lengths.push_back(lengths.back() +
                          std::hypot(middle(n).x - middle(n - 1).x, middle(n).y - middle(n - 1).y));
    const float until = std::clamp(t, 0.0F, 1.0F) * lengths.back();
    figure::BandItem part;
    for (std::size_t n = 0; n < strand.edge.size(); ++n) {
        const bool beyond = lengths[n] > until;
        const float share = beyond && n > 0 ? (until - lengths[n - 1]) / (lengths[n] - lengths[n - 1]) : 1;
        const auto cut = [&](const std::vector<figure::Point>& edge) {
            return beyond ? figure::Point{std::lerp(edge[n - 1].x, edge[n].x, share),
                                          std::lerp(edge[n - 1].y, edge[n].y, share)}
                          : edge[n];
        };
        part.edge.push_back(cut(strand.edge));
        part.other_edge.push_back(cut(strand.other_edge));
        part.colors.push_back(beyond ? mixed_color(strand.colors[n - 1], strand.colors[n], share)
                                     : strand.colors[n]);
        if (beyond)
            break;
    }
    return part;
}

} // namespace headscope::app
