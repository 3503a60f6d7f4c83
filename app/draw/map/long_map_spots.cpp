#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/free_space.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/map/long_map_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float spot_height = 24, long_map_head_height = 28;

/// Draws a token, bold on a raised background, with the tokens around it, at most `width` wide.
void draw_words(Picture& picture, const MapScene& scene, const std::vector<std::string>& tokens,
                std::int64_t at, float x, float baseline, float width) {
    const DrawContext& context = scene.context;
    constexpr float size = 12.5F, around = 6;
    const auto word = [&](std::int64_t n) { return shortened(tokens[static_cast<std::size_t>(n)], 14); };
    const float own = context.measure(word(at), Font::ui_semibold, size) + around;
    float left = own, before = 0;
    std::int64_t first = at, last = at;
    // Alternately adds a token before and one after, while they fit.
    for (bool more = true; more;) {
        more = false;
        if (first > 0)
            if (const float w = context.measure(word(first - 1) + " ", Font::ui, size); left + w <= width) {
                left += w, before += w, --first, more = true;
            }
        if (last + 1 < std::ssize(tokens))
            if (const float w = context.measure(" " + word(last + 1), Font::ui, size); left + w <= width) {
                left += w, ++last, more = true;
            }
        if (last - first > 16)
            break;
    }
    const figure::Color pale = context.theme.muted;
    std::string text;
    for (std::int64_t n = first; n < at; ++n)
        text += word(n) + " ";
    draw_text(picture, context, x, baseline, text, Font::ui, size, pale);
    x += before;
    picture.scene.add(figure::RectItem{.area = {x, baseline - 14, own, 19},
                                       .fill = context.theme.raise,
                                       .stroke = context.theme.line2,
                                       .radius = 3});
    draw_text(picture, context, x + around / 2, baseline, word(at), Font::ui_semibold, size,
              context.theme.ink);
    text.clear();
    for (std::int64_t n = at + 1; n <= last; ++n)
        text += " " + word(n);
    draw_text(picture, context, x + own, baseline, text, Font::ui, size, pale);
}

} // namespace

float spots_height(int rows) {
    return long_map_head_height + spot_height * static_cast<float>(rows);
}

std::size_t listed_spots(const MapScene& scene, float height) {
    const auto room = static_cast<std::size_t>(std::max(0.0F, (height - long_map_head_height) / spot_height));
    return scene.map.spots == nullptr ? 0 : std::min(room, scene.map.spots->size());
}

void draw_map_spots(Picture& picture, const MapScene& scene, const figure::Rect& area) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    if (!context.controls && scene.map.spots == nullptr)
        return; // the message that replaces the list mentions keys
    const analysis::SpotRules rules =
        analysis::spot_rules(scene.map.rows, scene.map.cols, scene.problem().cross());
    const std::string title =
        scene.problem().cross()
            ? tr("long_map_spots.strongest_weights", "Strongest weights")
            : tr("long_map_spots.strongest_weights_far", "Strongest weights far from the diagonal");
    const float wide =
        draw_text(picture, context, area.x, area.y + 16, title, Font::ui_semibold, 13, theme.ink);
    const std::size_t listed = listed_spots(scene, area.h);
    if (listed > 0) {
        const std::string count = grouped(std::ssize(*scene.map.spots)), key = key_hint("next spot");
        // Translators: the number of weights in a list, their distance, and the key that goes to the next
        std::string says = rules.distance > 0 ? tr("long_map_spots.least_tokens_away_next",
                                                   "{}, at least {} tokens away, {} the next", count,
                                                   grouped(rules.distance), key)
                                              : tr("long_map_spots.next", "{}, {} the next", count, key);
        if (!context.controls)
            says = rules.distance > 0 ? tr("long_map_spots.least_tokens_away", "{}, at least {} tokens away",
                                           count, grouped(rules.distance))
                                      : count;
        if (const std::string whole = says;
            (says = fitted_words(context, whole, Font::ui, 12.5F, area.w - wide - 150)) != whole)
            picture.tips.push_back({{area.x, area.y, area.w - 150, long_map_head_height - 4}, whole});
        draw_text(picture, context, area.x + wide + 12, area.y + 16, says, Font::ui, 12.5F, theme.muted);
    }
    draw_text(picture, context, area.right() - 8, area.y + 16, tr("common.weight", "weight"), Font::ui, 12,
              theme.muted, Align::right);
    draw_text(picture, context, area.right() - 72, area.y + 16, tr("common.distance", "distance"), Font::ui,
              12, theme.muted, Align::right);
    draw_hairline(picture, context, area.x, area.y + long_map_head_height - 4, area.w);
    if (listed == 0) {
        draw_text(picture, context, area.x, area.y + long_map_head_height + 16,
                  empty_spots_reason(scene.map, scene.view) + ".", Font::ui, 12.5F, theme.muted);
        return;
    }
    const float words = (area.w - 28 - 150 - 56) / 2;
    for (std::size_t n = 0; n < listed; ++n) {
        const analysis::MapSpot& spot = (*scene.map.spots)[n];
        const figure::Rect row{area.x, area.y + long_map_head_height + spot_height * static_cast<float>(n),
                               area.w, spot_height};
        const float baseline = figure::baseline_for(row.y + row.h / 2, 12.5F);
        const std::string label = "spot " + std::to_string(n + 1);
        const bool on = scene.map.selected && scene.map.selected->query == spot.query &&
                        scene.map.selected->key == spot.key;
        if (on || context.hovered == label)
            picture.scene.add(figure::RectItem{.area = row, .fill = theme.highlight});
        if (on)
            picture.scene.add(figure::RectItem{.area = {row.x, row.y, 3, row.h}, .fill = theme.ink});
        draw_text(picture, context, row.x + 8, baseline, std::to_string(n + 1), Font::mono_semibold, 12.5F,
                  theme.ink);
        if (scene.has_words()) {
            draw_words(picture, scene, scene.problem().tokens, spot.query, row.x + 30, baseline, words);
            draw_words(picture, scene,
                       scene.problem().cross() ? scene.problem().kv_tokens : scene.problem().tokens, spot.key,
                       row.x + 30 + words + 52, baseline, words);
            draw_text(picture, context, row.x + 30 + words + 8, baseline, tr("common.reads", "reads"),
                      Font::ui, 12.5F, theme.muted);
        } else {
            draw_text(picture, context, row.x + 30, baseline,
                      tr("long_map_spots.query_reads_key", "query {} reads key {}", grouped(spot.query),
                         grouped(spot.key)),
                      Font::ui, 12.5F, theme.text);
        }
        draw_text(picture, context, row.right() - 72, baseline, grouped(std::abs(spot.query - spot.key)),
                  Font::mono, 12.5F, theme.text, Align::right);
        draw_text(picture, context, row.right() - 8, baseline, map_weight_text(spot.weight),
                  Font::mono_semibold, 12.5F, theme.ink, Align::right);
        picture.add_hotspot(row, label, GoToWeight{spot.query, spot.key},
                            tr("long_map_spots.query_reads_key_goes", "Query {} reads key {}: goes there",
                               grouped(spot.query), grouped(spot.key)));
    }
}

void draw_map_marks(Picture& picture, const MapScene& scene, const figure::Rect& room, std::size_t listed) {
    const Theme& theme = scene.context.theme;
    const VisibleMap sight = scene.sight();
    const auto cell = static_cast<float>(sight.pixels);
    const auto frame = [&](const MapPart& part) {
        const figure::Rect area{room.x + sight.x(static_cast<double>(part.col)),
                                room.y + sight.y(static_cast<double>(part.row)),
                                cell * static_cast<float>(part.cols), cell * static_cast<float>(part.rows)};
        const float grow = std::max(2.0F, (14 - std::min(area.w, area.h)) / 2);
        return figure::Rect{area.x - grow, area.y - grow, area.w + 2 * grow, area.h + 2 * grow};
    };
    const auto outline = [&](const figure::Rect& area, bool strong) {
        const float radius = cell < 8 ? area.w / 2 : 2;
        picture.scene.add(figure::RectItem{.area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2},
                                           .stroke = theme.canvas,
                                           .stroke_width = 1,
                                           .radius = radius + 1});
        picture.scene.add(figure::RectItem{
            .area = area, .stroke = theme.ink, .stroke_width = strong ? 2.5F : 1.5F, .radius = radius});
    };
    std::vector<figure::Rect> rings, taken; // rings of the listed spots; areas that no number may cover
    for (std::size_t n = 0; n < listed; ++n) {
        const analysis::MapSpot& spot = (*scene.map.spots)[n];
        rings.push_back(frame({spot.query, spot.key, 1, 1}));
        if (overlap(rings.back(), room)) {
            outline(rings.back(), false);
            taken.push_back(rings.back());
        }
    }
    for (std::size_t n = 0; n < rings.size(); ++n) {
        if (!overlap(rings[n], room))
            continue;
        const std::string text = std::to_string(n + 1);
        const figure::Rect area = free_position_next_to(
            rings[n], {scene.context.measure(text, Font::ui_semibold, 12) + 6, 17}, taken);
        taken.push_back(area);
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.canvas, .radius = 3});
        draw_text(picture, scene.context, area.x + 3, area.y + 13, text, Font::ui_semibold, 12, theme.ink);
    }
    if (scene.map.selected)
        outline(frame({scene.map.selected->query, scene.map.selected->key, 1, 1}), true);
}

} // namespace headscope::app
