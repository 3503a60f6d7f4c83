#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::HeadScore;
using figure::Align;
using figure::Font;

constexpr std::size_t bins = 16;
constexpr float column_width = 112, column_gap = 20, row_height = 104, bars_top = 20, bars_height = 48;

struct Counts {
    std::array<std::int64_t, bins> all{}, chosen{};
    std::int64_t largest = 0;
};

Counts counts_of(const AtlasScene& scene, HeadScore score, const ScoreAxis& axis) {
    Counts counts;
    for (std::int64_t l = 0; l < scene.atlas.L; ++l)
        for (std::int64_t h = 0; h < scene.atlas.H; ++h) {
            const auto value = scene.score(l, h, score);
            if (!value)
                continue;
            const auto bin =
                std::min(bins - 1, static_cast<std::size_t>(axis.place(*value) * static_cast<double>(bins)));
            counts.largest = std::max(counts.largest, ++counts.all[bin]);
            counts.chosen[bin] += scene.is_chosen(l, h) ? 1 : 0;
        }
    return counts;
}

/// The ranges of the other scores, and this score's range if there is one.
std::vector<ScoreRange> with_range(const AtlasScene& scene, HeadScore score,
                                   std::optional<ScoreRange> range) {
    std::vector<ScoreRange> ranges = scene.view().brush;
    std::erase_if(ranges, [&](const ScoreRange& one) { return one.score == score; });
    if (range)
        ranges.push_back(*range);
    return ranges;
}

/// The range of a score, by default its whole axis.
ScoreRange range_of(const AtlasScene& scene, HeadScore score, const ScoreAxis& axis) {
    const auto& brush = scene.view().brush;
    const auto range = std::ranges::find(brush, score, &ScoreRange::score);
    return range != brush.end()
               ? *range
               : ScoreRange{score, static_cast<float>(axis.low), static_cast<float>(axis.high)};
}

/// The other ranges, and `now` with its lower end moved by → and ← and its upper end by ↑ and ↓. A step is
/// one bar, or a quarter of one.
std::vector<ScoreRange> stepped_range(std::vector<ScoreRange> others, ScoreRange now, const ScoreAxis& axis,
                                      const ControlSteps& steps) {
    const double step = (axis.high - axis.low) / static_cast<double>(bins) / (steps.fine ? 4 : 1);
    const auto moved = [&](float from, int by, double low, double high) {
        return static_cast<float>(std::clamp(static_cast<double>(from) + by * step, low, high));
    };
    now.low = moved(now.low, steps.across, axis.low, static_cast<double>(now.high));
    now.high = moved(now.high, steps.up, static_cast<double>(now.low), axis.high);
    others.push_back(now);
    return others;
}

void draw_threshold(Picture& picture, const AtlasScene& scene, HeadScore score, const ScoreAxis& axis,
                    const figure::Rect& bars) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const analysis::HeadLabel& label = analysis::info_of(score).label;
    if (label.text.empty() || scene.difference())
        return;
    const float from = scene.view().thresholds[static_cast<std::size_t>(score)];
    const float x = bars.x + bars.w * static_cast<float>(axis.place(static_cast<double>(from)));
    picture.scene.add(figure::LineItem{{x, bars.y - 4}, {x, bars.bottom()}, theme.muted, 1});
    picture.scene.add(figure::RectItem{
        .area = {x - 4, bars.y - 6, 8, 8}, .fill = theme.canvas, .stroke = theme.muted, .radius = 4});
    if (!context.controls)
        return;
    const auto change = [score](float value) { return SetThreshold{score, value}; };
    picture.drags.push_back(
        {.area = {x - 6, bars.y - 9, 12, bars.h + 9},
         .label = "threshold " + std::string(analysis::info_of(score).id),
         .reference_area = bars,
         .dragged =
             [axis, change](figure::Point, figure::Point to) {
                 const double value = axis.value_at(static_cast<double>(to.x));
                 return change(static_cast<float>(std::round(value * 100) / 100));
             },
         .clicked = [change, usual = label.from](figure::Point) { return change(usual); },
         // Translators: the label of heads, its current threshold, and its default threshold
         .tip = tr(
             "atlas_histograms.called_drag_change",
             "The label “{}” applies from a score of {}. Drag to change this threshold; a click restores {}.",
             tr(label.text), number(static_cast<double>(from), 2),
             number(static_cast<double>(label.from), 2)),
         .stepped =
             [axis, change, from](const ControlSteps& steps) {
                 const double by = steps.fine ? 0.01 : 0.05;
                 const double value =
                     std::clamp(static_cast<double>(from) + steps.sum() * by, axis.low, axis.high);
                 return change(static_cast<float>(std::round(value * 100) / 100));
             }});
}

void draw_one(Picture& picture, const AtlasScene& scene, HeadScore score, const figure::Rect& area) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    const ScoreAxis axis = axis_of(scene, score, false);
    const bool colours = score == scene.resolved.colour;
    const analysis::HeadScoreInfo& info = analysis::info_of(score);
    draw_text(picture, context, area.x, area.y + 10, name_of(score), colours ? Font::ui_semibold : Font::ui,
              12, colours ? theme.ink : theme.text);
    if (context.controls)
        picture.add_hotspot(
            {area.x, area.y - 4, area.w, 18}, "colour by " + std::string(info.name.english),
            ChooseScore{AtlasMenu::colour, score},
            tr(info.formula) + (info.source.empty() ? "" : "\n" + tr(info.source)) + "\n" +
                tr("atlas_histograms.click_colours_board", "A click colors the grid by this score."));
    const figure::Rect bars{area.x, area.y + bars_top, area.w, bars_height};
    const Counts counts = counts_of(scene, score, axis);
    const float width = bars.w / static_cast<float>(bins);
    // Square root scale, so that a single head is visible next to a large group.
    const auto bar = [&](std::size_t bin, std::int64_t count, figure::Color colour) {
        if (count == 0)
            return;
        const float height =
            bars.h * std::sqrt(static_cast<float>(count) / static_cast<float>(counts.largest));
        picture.scene.add(figure::RectItem{
            .area = {bars.x + width * static_cast<float>(bin), bars.bottom() - height, width - 1, height},
            .fill = colour});
    };
    for (std::size_t bin = 0; bin < bins; ++bin) {
        bar(bin, counts.all[bin], scene.resolved.is_filtered ? theme.line2 : theme.muted);
        bar(bin, counts.chosen[bin], theme.ink);
    }
    picture.scene.add(
        figure::LineItem{{bars.x, bars.bottom()}, {bars.right(), bars.bottom()}, theme.line2, 1});
    const std::int64_t l = context.view.attention.layer, h = context.view.head;
    if (const auto open = scene.atlas.has(l, h) ? scene.score(l, h, score) : std::nullopt) {
        const float x = bars.x + bars.w * static_cast<float>(axis.place(*open));
        picture.scene.add(figure::PolygonItem{
            {{x, bars.bottom() + 2}, {x - 4, bars.bottom() + 9}, {x + 4, bars.bottom() + 9}}, theme.ink});
    }
    const float baseline = bars.bottom() + 21;
    draw_text(picture, context, bars.x, baseline, number(axis.low, axis.decimals), Font::mono, 11,
              theme.muted);
    const std::string suffix = tr(info.unit.suffix);
    draw_text(picture, context, bars.right(), baseline,
              number(axis.high, axis.decimals) + (suffix == " %" ? "" : suffix), Font::mono, 11, theme.muted,
              Align::right);
    draw_threshold(picture, scene, score, axis, bars);
    if (!context.controls)
        return;
    picture.drags.push_back(
        {.area = bars,
         .label = "distribution " + std::string(info.id),
         .reference_area = bars,
         .dragged =
             [axis, score, rest = with_range(scene, score, {})](figure::Point from, figure::Point to) {
                 std::vector<ScoreRange> ranges = rest;
                 ranges.push_back(
                     {score, static_cast<float>(axis.value_at(static_cast<double>(std::min(from.x, to.x)))),
                      static_cast<float>(axis.value_at(static_cast<double>(std::max(from.x, to.x))))});
                 return BrushScores{ranges};
             },
         .clicked = [rest = with_range(scene, score, {})](figure::Point) { return BrushScores{rest}; },
         .tip = tr("atlas_histograms.move_lower_end_chosen",
                   "→ and ← move the lower end of the selection, ↑ and ↓ the upper end"),
         .stepped =
             [axis, now = range_of(scene, score, axis), rest = with_range(scene, score, {})](
                 const ControlSteps& steps) { return BrushScores{stepped_range(rest, now, axis, steps)}; }});
}

} // namespace

float draw_atlas_histograms(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    draw_hairline(picture, context, room.x, room.y, room.w);
    draw_text(picture, context, room.x, room.y + 24,
              tr("atlas_histograms.every_score_all_heads", "Every score, all heads"), Font::ui_semibold, 13,
              theme.ink);
    if (scene.resolved.is_filtered || context.controls)
        draw_text(picture, context, room.right(), room.y + 24,
                  scene.resolved.is_filtered ? tr("atlas_histograms.dark_chosen", "dark: selected")
                                             : tr("atlas_histograms.drag_choose_heads", "drag: select heads"),
                  Font::ui, 12, theme.muted, Align::right);
    const auto columns = std::max<std::int64_t>(
        1, static_cast<std::int64_t>((room.w + column_gap) / (column_width + column_gap)));
    const float width = (room.w + column_gap) / static_cast<float>(columns) - column_gap;
    std::int64_t at = 0;
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        if (!scene.atlas.known.test(static_cast<std::size_t>(info.score)))
            continue;
        draw_one(picture, scene, info.score,
                 {room.x + (width + column_gap) * static_cast<float>(at % columns),
                  room.y + 44 + row_height * static_cast<float>(at / columns), width, row_height});
        ++at;
    }
    return room.y + 44 + row_height * static_cast<float>((at + columns - 1) / columns);
}

} // namespace headscope::app
