#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/free_space.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::HeadScore;
using figure::Align;
using figure::Font;

constexpr float large_dot = 11, small_dot = 7, handle = 8;
constexpr std::size_t few_heads = 400; ///< up to this number of heads, dots are large and have a rim
constexpr std::size_t most_names = 12;

/// The plot and its axes.
struct Plane {
    figure::Rect area;
    ScoreAxis x, y;
    bool alike = false; ///< the similarity map, where only distances are meaningful

    figure::Point at(double across, double up) const {
        return {area.x + area.w * static_cast<float>(x.place(across)),
                area.bottom() - area.h * static_cast<float>(y.place(up))};
    }
    /// A point of the area as fractions of its size.
    figure::Point share(figure::Point at) const {
        return {(at.x - area.x) / area.w, (at.y - area.y) / area.h};
    }
    /// The values between two corners, given as fractions of the area: x from, x to, y from, y to.
    std::array<float, 4> between(figure::Point a, figure::Point b) const {
        const auto value = [](const ScoreAxis& axis, float share) {
            return static_cast<float>(axis.value_at(static_cast<double>(share)));
        };
        return {value(x, std::min(a.x, b.x)), value(x, std::max(a.x, b.x)), value(y, 1 - std::max(a.y, b.y)),
                value(y, 1 - std::min(a.y, b.y))};
    }
};

std::optional<figure::Point> place_of(const AtlasScene& scene, const Plane& plane, std::int64_t l,
                                      std::int64_t h) {
    if (plane.alike) {
        const auto& [x, y] = scene.atlas.similarity->places[static_cast<std::size_t>(l * scene.atlas.H + h)];
        return plane.at(x, y);
    }
    const auto x = scene.score(l, h, scene.resolved.x), y = scene.score(l, h, scene.resolved.y);
    return x && y ? std::optional(plane.at(*x, *y)) : std::nullopt;
}

figure::Color layer_colour(const AtlasScene& scene, std::int64_t l) {
    return ramp_color(scene.context.theme.order,
                      scene.atlas.L < 2 ? 0.0F
                                        : static_cast<float>(l) / static_cast<float>(scene.atlas.L - 1));
}

/// Draws a head's mark. Its color depends on the layer, its shape cycles through four shapes by layer.
void draw_mark(Picture& picture, const AtlasScene& scene, std::int64_t l, figure::Point at, float size,
               figure::Color fill, figure::Color rim, float thick) {
    const float half = size / 2;
    if (l % 4 < 2) { // dot, square
        const float radius = l % 4 == 0 ? half : 0.0F, in = l % 4 == 0 ? 0.0F : size * 0.06F;
        picture.scene.add(
            figure::RectItem{.area = {at.x - half + in, at.y - half + in, size - 2 * in, size - 2 * in},
                             .fill = fill,
                             .stroke = rim,
                             .stroke_width = thick,
                             .radius = radius});
        return;
    }
    const auto shape = [&](float reach) { // diamond, triangle
        return l % 4 == 2 ? std::vector<figure::Point>{{at.x, at.y - reach},
                                                       {at.x + reach, at.y},
                                                       {at.x, at.y + reach},
                                                       {at.x - reach, at.y}}
                          : std::vector<figure::Point>{{at.x, at.y - reach},
                                                       {at.x + reach, at.y + reach * 0.8F},
                                                       {at.x - reach, at.y + reach * 0.8F}};
    };
    if (figure::is_visible(rim))
        picture.scene.add(figure::PolygonItem{shape(half * 1.15F + thick), rim});
    // The background shows through a pale mark, not its rim.
    if (figure::is_visible(rim) && fill >> 24 != 255)
        picture.scene.add(figure::PolygonItem{shape(half * 1.15F), scene.context.theme.canvas});
    picture.scene.add(figure::PolygonItem{shape(half * 1.15F), fill});
}

void draw_axes(Picture& picture, const AtlasScene& scene, const Plane& plane) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const figure::Rect& area = plane.area;
    picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line2});
    if (plane.alike)
        return;
    float free_from = -1000;
    for (const double tick : plane.x.ticks) {
        const float x = plane.at(tick, plane.y.low).x;
        picture.scene.add(figure::LineItem{{x, area.y}, {x, area.bottom()}, theme.line, 1});
        const std::string words = number(tick, plane.x.decimals);
        const float half = context.measure(words, Font::mono, 12) / 2;
        const float middle = std::clamp(x, area.x + half, area.right() - half);
        if (middle - half < free_from + 6)
            continue;
        free_from = middle + half;
        draw_text(picture, context, middle, area.bottom() + 17, words, Font::mono, 12, theme.muted,
                  Align::center);
    }
    float free_below = area.bottom() + 100;
    for (const double tick : plane.y.ticks) {
        const float y = plane.at(plane.x.low, tick).y;
        picture.scene.add(figure::LineItem{{area.x, y}, {area.right(), y}, theme.line, 1});
        if (y > free_below - 14)
            continue;
        free_below = y;
        draw_text(picture, context, area.x - 8,
                  std::clamp(figure::baseline_for(y, 12), area.y + 10, area.bottom()),
                  number(tick, plane.y.decimals), Font::mono, 12, theme.muted, Align::right);
    }
}

/// The area of the brush on the plot; empty without a brush.
std::optional<figure::Rect> brush_on(const AtlasScene& scene, const Plane& plane) {
    std::array<float, 4> around{static_cast<float>(plane.x.low), static_cast<float>(plane.x.high),
                                static_cast<float>(plane.y.low), static_cast<float>(plane.y.high)};
    bool any = false;
    if (plane.alike && scene.view().brushed) {
        around = *scene.view().brushed;
        any = true;
    }
    if (!plane.alike)
        for (const ScoreRange& range : scene.view().brush) {
            const bool across = range.score == scene.resolved.x, up = range.score == scene.resolved.y;
            if (across)
                around[0] = range.low, around[1] = range.high;
            if (up)
                around[2] = range.low, around[3] = range.high;
            any = any || across || up;
        }
    if (!any)
        return std::nullopt;
    const figure::Point low = plane.at(static_cast<double>(around[0]), static_cast<double>(around[2])),
                        high = plane.at(static_cast<double>(around[1]), static_cast<double>(around[3]));
    return figure::Rect{low.x, high.y, high.x - low.x, low.y - high.y};
}

/// The action that selects the heads between two corners. The ranges of other scores stay.
std::function<Action(figure::Point, figure::Point)> brushes(const AtlasScene& scene, const Plane& plane) {
    std::vector<ScoreRange> others = scene.view().brush;
    const HeadScore x = scene.resolved.x, y = scene.resolved.y;
    std::erase_if(others, [&](const ScoreRange& range) { return range.score == x || range.score == y; });
    return [plane, others, x, y](figure::Point from, figure::Point to) -> Action {
        const auto [left, right, low, high] = plane.between(from, to);
        if (plane.alike)
            return BrushMap{{left, right, low, high}};
        std::vector<ScoreRange> ranges = others;
        ranges.push_back({x, left, right});
        if (x != y)
            ranges.push_back({y, low, high});
        return BrushScores{ranges};
    };
}

/// Moves a point by 1/50 of the plot per step, or by 1/200.
figure::Point moved(figure::Point at, const ControlSteps& steps) {
    const float by = steps.fine ? 0.005F : 0.02F;
    return {std::clamp(at.x + static_cast<float>(steps.across) * by, 0.0F, 1.0F),
            std::clamp(at.y - static_cast<float>(steps.up) * by, 0.0F, 1.0F)};
}

void draw_brush(Picture& picture, const AtlasScene& scene, const Plane& plane) {
    const Theme& theme = scene.context.theme;
    const auto all = [] { return ChooseAllHeads{}; };
    if (const auto brush = brush_on(scene, plane)) {
        picture.scene.add(figure::RectItem{.area = *brush,
                                           .fill = figure::with_alpha(theme.ink, 16),
                                           .stroke = theme.ink,
                                           .stroke_width = 1});
        for (const bool right : {false, true})
            for (const bool bottom : {false, true}) {
                const figure::Point corner{right ? brush->right() : brush->x,
                                           bottom ? brush->bottom() : brush->y};
                const figure::Rect area{corner.x - handle / 2, corner.y - handle / 2, handle, handle};
                picture.scene.add(figure::RectItem{
                    .area = area, .fill = theme.canvas, .stroke = theme.ink, .stroke_width = 1});
                const figure::Point other =
                    plane.share({right ? brush->x : brush->right(), bottom ? brush->y : brush->bottom()});
                picture.drags.push_back(
                    {.area = {area.x - 4, area.y - 4, area.w + 8, area.h + 8},
                     .label =
                         std::string("brush ") + (bottom ? "bottom" : "top") + (right ? " right" : " left"),
                     .reference_area = plane.area,
                     .dragged = [other, brushes = brushes(scene, plane)](
                                    figure::Point, figure::Point to) { return brushes(other, to); },
                     .tip = tr("atlas_scatter.drag_change_chosen", "Drag to change the selection"),
                     .stepped = [other, at = plane.share(corner), brushes = brushes(scene, plane)](
                                    const ControlSteps& steps) { return brushes(other, moved(at, steps)); }});
            }
    }
    picture.drags.push_back({.area = plane.area,
                             .label = "scatter",
                             .reference_area = plane.area,
                             .dragged = brushes(scene, plane),
                             .clicked = [all](figure::Point) { return all(); },
                             .stepped =
                                 [around = brush_on(scene, plane), plane,
                                  brushes = brushes(scene, plane)](const ControlSteps& steps) {
                                     // Without a brush, a new one starts at the center.
                                     const figure::Point low = around ? plane.share({around->x, around->y})
                                                                      : figure::Point{0.3F, 0.3F};
                                     const figure::Point high =
                                         around ? plane.share({around->right(), around->bottom()})
                                                : figure::Point{0.7F, 0.7F};
                                     return brushes(moved(low, steps), moved(high, steps));
                                 }});
}

/// A mark with its name next to it.
struct NamedMark {
    std::int64_t l = 0, h = 0;
    figure::Rect area;
    bool strong = false;
};

/// Draws the marks and returns those that get a name.
std::vector<NamedMark> draw_points(Picture& picture, const AtlasScene& scene, const Plane& plane) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const bool few = scene.atlas.heads.size() <= few_heads;
    const float dot = few ? large_dot : small_dot;
    std::vector<NamedMark> named;
    // The open and the hovered head are drawn over the others.
    for (const bool over : {false, true})
        for (std::int64_t l = 0; l < scene.atlas.L; ++l)
            for (std::int64_t h = 0; h < scene.atlas.H; ++h) {
                const bool stands_out = scene.is_open(l, h) || scene.hovered(l, h);
                if (stands_out != over)
                    continue;
                const auto at = place_of(scene, plane, l, h);
                if (!at)
                    continue;
                const bool pale = scene.resolved.is_filtered && !scene.is_chosen(l, h) && !stands_out;
                const float size = stands_out ? dot + 2 : dot;
                if (stands_out)
                    picture.scene.add(figure::RectItem{
                        .area = {at->x - size / 2 - 3, at->y - size / 2 - 3, size + 6, size + 6},
                        .stroke = theme.ink,
                        .stroke_width = 2,
                        .radius = size / 2 + 3});
                const figure::Color colour = figure::with_alpha(layer_colour(scene, l), pale ? 70 : 235);
                const HeadEdits* const edits = scene.edits(l, h);
                const bool off = edits != nullptr && edits->ablated();
                draw_mark(picture, scene, l, *at, size, off ? theme.canvas : colour,
                          scene.is_chosen(l, h) ? theme.ink
                          : off                 ? colour
                          : few                 ? theme.canvas
                                                : 0,
                          scene.is_chosen(l, h) || off ? 1.5F : 1.0F);
                picture.add_hotspot({at->x - 7, at->y - 7, 14, 14}, "point " + scene.name(l, h),
                                    OpenHead{l, h}, scene.tip(l, h, {scene.resolved.x, scene.resolved.y}));
                if (stands_out || scene.is_chosen(l, h))
                    named.push_back({l, h, {at->x - size / 2, at->y - size / 2, size, size}, stands_out});
            }
    return named;
}

/// Draws names over marks and brush, each on its own background, with a line to a mark farther away. Where
/// many marks are close together, some names are omitted.
void draw_names(Picture& picture, const AtlasScene& scene, const Plane& plane, std::vector<NamedMark> marks) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    std::ranges::stable_sort(marks, std::ranges::greater{}, &NamedMark::strong);
    marks.resize(std::min(marks.size(), most_names));
    std::vector<figure::Rect> taken;
    for (const NamedMark& mark : marks)
        taken.push_back(mark.area);
    // Keeps names inside the plot.
    const figure::Rect& area = plane.area;
    constexpr float far = 1000;
    taken.insert(taken.end(), {{area.right(), area.y - far, far, area.h + 2 * far},
                               {area.x - far, area.y - far, far, area.h + 2 * far},
                               {area.x, area.y - far, area.w, far},
                               {area.x, area.bottom(), area.w, far}});
    for (const NamedMark& mark : marks) {
        const Font font = mark.strong ? Font::mono_semibold : Font::mono;
        const std::string& words = scene.name(mark.l, mark.h);
        const figure::Rect place =
            free_position_next_to(mark.area, {context.measure(words, font, 12) + 6, 16}, taken);
        if (!mark.strong &&
            std::ranges::any_of(taken, [&](const figure::Rect& other) { return overlap(place, other); }))
            continue;
        taken.push_back(place);
        const figure::Point from{mark.area.x + mark.area.w / 2, mark.area.y + mark.area.h / 2},
            to{std::clamp(from.x, place.x, place.right()), std::clamp(from.y, place.y, place.bottom())};
        if (std::hypot(to.x - from.x, to.y - from.y) > 16)
            picture.scene.add(figure::LineItem{from, to, theme.muted, 1});
        picture.scene.add(
            figure::RectItem{.area = place, .fill = figure::with_alpha(theme.canvas, 220), .radius = 3});
        draw_text(picture, context, place.x + 3, place.y + 12, words, font, 12, theme.ink);
    }
}

/// Draws the colors of the layers. Returns the baseline.
void draw_layers(Picture& picture, const AtlasScene& scene, float x, float baseline) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    x += draw_text(picture, context, x, baseline, tr("atlas_scatter.layer", "layer"), Font::ui, 12,
                   theme.muted) +
         12;
    const std::int64_t L = scene.atlas.L;
    // An odd step shows every shape.
    const std::int64_t step = (L + 7) / 8 | 1;
    for (std::int64_t l = 0; l < L; l += step) {
        draw_mark(picture, scene, l, {x + 4.5F, baseline - 4.5F}, 9, layer_colour(scene, l), 0, 0);
        x += 13;
        x += draw_text(picture, context, x, baseline,
                       std::to_string(scene.atlas.numbers[static_cast<std::size_t>(l)]), Font::mono, 12,
                       theme.text) +
             11;
    }
}

Plane plane_of(const AtlasScene& scene, const figure::Rect& area) {
    const bool alike = scene.view().pane == AtlasPane::similarity;
    if (!alike)
        return {area, axis_of(scene, scene.resolved.x, scene.view().stretched),
                axis_of(scene, scene.resolved.y, scene.view().stretched), false};
    double reach = 1e-9;
    for (const auto& [x, y] : scene.atlas.similarity->places)
        reach = std::max({reach, std::abs(x), std::abs(y)});
    const ScoreAxis axis{.low = -1.08 * reach, .high = 1.08 * reach};
    return {area, axis, axis, true};
}

/// `score`: the score's name; empty for the similarity map.
std::string work_words(const std::string& score, const ScoreProgress& work) {
    if (!work.unavailable_reason.empty() || !work.fraction)
        return work.unavailable_reason;
    const std::string share = percent_text(static_cast<double>(*work.fraction));
    return score.empty() ? tr("atlas_scatter.how_alike_heads_read",
                              "The similarity of the heads is being measured: {} done.", share)
                         : tr("atlas_scatter.measured_done", "{} is being measured: {} done.", score, share);
}

/// Describes the measurements in progress for the scores along the axes.
std::string awaited(const AtlasScene& scene) {
    if (scene.view().pane == AtlasPane::similarity)
        return scene.atlas.similarity == nullptr ? work_words({}, scene.atlas.similarity_progress) : "";
    for (const HeadScore score : {scene.resolved.x, scene.resolved.y})
        if (const ScoreProgress* const work = scene.atlas.work(score))
            if (const std::string words = work_words(name_of(score), *work); !words.empty())
                return words;
    return "";
}

} // namespace

float draw_atlas_scatter(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const bool alike = scene.view().pane == AtlasPane::similarity;
    const bool drawn = !alike || scene.atlas.similarity != nullptr;
    constexpr float left = 48, foot = 26;
    const figure::Rect area{room.x + (alike ? 0 : left), room.y, room.w - (alike ? 0 : left), room.h - foot};
    float y = room.bottom() + 6;
    if (drawn) {
        const Plane plane = plane_of(scene, area);
        draw_axes(picture, scene, plane);
        if (const std::string words = awaited(scene); !words.empty())
            draw_paragraph(picture, context, area.x + 12, area.y + 22, area.w - 24, words, Font::ui, 12.5F,
                           18, theme.muted);
        const std::vector<NamedMark> named = draw_points(picture, scene, plane);
        if (context.controls)
            draw_brush(picture, scene, plane);
        draw_names(picture, scene, plane, named);
    } else {
        picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line2});
        draw_paragraph(picture, context, area.x + 12, area.y + 22, area.w - 24, awaited(scene), Font::ui,
                       12.5F, 18, theme.muted);
    }
    if (context.controls && !alike) {
        const float taken = draw_score_button(picture, scene, area.x, y, AtlasMenu::y, false);
        if (area.x + taken + 8 + 150 < room.right())
            draw_score_button(picture, scene, room.right(), y, AtlasMenu::x, true);
        else
            draw_score_button(picture, scene, area.x, y += 36, AtlasMenu::x, false);
        y += 40;
    }
    if (alike && drawn) {
        const SimilarityMap& map = *scene.atlas.similarity;
        std::string says =
            map.rows < map.of
                ? tr("atlas_scatter.closer_more_alike_two",
                     "The closer two heads, the more similar their weights: Jensen-Shannon divergence of "
                     "their rows, summed over {} of {} rows, mapped to a plane by classical scaling.",
                     grouped(map.rows), grouped(map.of))
                : tr("atlas_scatter.closer_more_alike_two_2",
                     "The closer two heads, the more similar their weights: Jensen-Shannon divergence of "
                     "their rows, summed, mapped to a plane by classical scaling.");
        if (scene.atlas.survey != nullptr)
            says += " " + tr("atlas_scatter.rows_prompt_not_surveys",
                             "The rows are those of the prompt, not of the survey's texts.");
        if (scene.atlas.mean != nullptr)
            says += " " + tr("atlas_scatter.rows_open_prompt",
                             "The rows are those of the open prompt, not of the list.");
        y = draw_paragraph(picture, context, room.x, y + 12, room.w, says, Font::ui, 12.5F, 18, theme.muted);
    }
    if (scene.info().axis != SetAxis::one)
        draw_layers(picture, scene, area.x, y + 12);
    if (!scene.resolved.is_filtered && !context.controls)
        return y + 50;
    const std::int64_t chosen = scene.resolved.chosen_count;
    const std::string count =
        scene.resolved.is_filtered
            ? tr_n("atlas_scatter.head_chosen", "{} head of {} selected", "{} heads of {} selected", chosen,
                   grouped(chosen), grouped(scene.atlas.L * scene.atlas.H))
            : tr("atlas_scatter.drag_over_points_choose", "Drag over points to select heads");
    draw_text(picture, context, area.x, y + 36, count,
              scene.resolved.is_filtered ? Font::ui_semibold : Font::ui, 12.5F,
              scene.resolved.is_filtered ? theme.ink : theme.muted);
    return y + 50;
}

} // namespace headscope::app
