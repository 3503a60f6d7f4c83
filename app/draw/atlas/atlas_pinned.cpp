#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float names_width = 150, score_row = 24, name_baseline = 110, between_maps = 24,
                legend_room = 66; ///< below the maps
constexpr float least_map = 96, most_map = 316;

/// Longer texts show numbers at both ends of their maps, because their words are not read in every frame.
bool named(const AttentionInfo& info) {
    constexpr std::int64_t most = 1024;
    return std::max(info.Tq, info.Tk) <= most;
}

/// The space for labels to the left of a map and above it.
float labels_beside(const DrawContext& context, const AttentionInfo& info) {
    return named(info) ? row_label_width(context, false)
                       : context.measure(grouped(info.Tq - 1), Font::mono, 12) + 12;
}
float labels_above(const DrawContext& context, const AttentionInfo& info, float map) {
    constexpr float caption = 22, numbers = 24;
    return caption +
           (named(info) ? column_label_height(context, map / static_cast<float>(info.Tk), true) : numbers);
}

/// Draws the tokens of a map's rows and columns, and labels queries and keys.
void draw_map_labels(Picture& picture, const AtlasScene& scene, const figure::Rect& map, float above) {
    const DrawContext& context = scene.context;
    const AttentionInfo& info = scene.info();
    const auto say = [&](float x, float y, const std::string& text, Font font, Align align) {
        draw_text(picture, context, x, y, text, font, 12, context.theme.muted, align);
    };
    say(map.x + map.w / 2, map.y - above + 14, tr("common.key_token_j", "key token j"), Font::ui,
        Align::center);
    say(map.x - 12, map.y - above + 14, tr("common.query_i", "query i"), Font::ui, Align::right);
    if (named(info)) {
        // As a mean map: no cell of a head is current here, so no label is bold.
        const MatrixGrid grid{.tensor = TensorId::weights_mean,
                              .row_axis = 1,
                              .col_axis = 2,
                              .rows = info.Tq,
                              .cols = info.Tk,
                              .area = map,
                              .pitch_x = map.w / static_cast<float>(info.Tk),
                              .pitch_y = map.h / static_cast<float>(info.Tq)};
        draw_row_labels(picture, context, grid, false);
        draw_column_labels(picture, context, grid, true);
        return;
    }
    say(map.x - 8, map.y + 12, "0", Font::mono, Align::right);
    say(map.x - 8, map.bottom(), grouped(info.Tq - 1), Font::mono, Align::right);
    say(map.x, map.y - 8, "0", Font::mono, Align::left);
    say(map.right(), map.y - 8, grouped(info.Tk - 1), Font::mono, Align::right);
}

} // namespace

float draw_atlas_pinned(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    std::vector<GridHead> heads = scene.view().pinned;
    std::erase_if(heads, [&](const GridHead& head) {
        return head.layer >= scene.atlas.L || head.head >= scene.atlas.H;
    });
    draw_view_heading(picture, context, tr("atlas_pinned.pinned_heads", "Pinned heads"),
                      tr_n("atlas_pinned.head_side_side", "{} head side by side", "{} heads side by side",
                           std::ssize(heads), grouped(std::ssize(heads))));
    if (heads.empty()) {
        return draw_paragraph(picture, context, room.x, 130, room.w,
                              tr("atlas_pinned.no_head_pinned_pin",
                                 "No head is pinned. Pin heads by the star in the list of the atlas or by "
                                 "the button on their card to compare them here."),
                              Font::ui, 13.5F, 20, theme.text);
    }
    const auto count = static_cast<float>(heads.size());
    const float beside = labels_beside(context, scene.info()), left = room.x + std::max(names_width, beside),
                map = std::floor(std::clamp((room.right() - left + beside) / count - beside - between_maps,
                                            least_map, most_map)),
                pitch = beside + map + between_maps, above = labels_above(context, scene.info(), map),
                top = name_baseline + above;
    picture.scene.width = std::max(context.width, left + pitch * count - beside + canvas_pad);
    draw_legend(picture, context, left, top + map + 16, std::min(map, 160.0F), marks_ramp(theme), 0,
                scene.darkest_mark(), weight_words(scene), false, context.log_colours());
    float y = top + map + legend_room;
    for (std::size_t n = 0; n < heads.size(); ++n) {
        const auto [l, h] = heads[n];
        const float x = left + pitch * static_cast<float>(n);
        const bool open = scene.is_open(l, h);
        const std::string name = scene.name(l, h);
        draw_text(picture, context, x, name_baseline, name, open ? Font::mono_semibold : Font::mono, 14,
                  theme.ink);
        const figure::Rect area{x, top, map, map};
        picture.scene.add(tile_picture(scene, l, h, area, theme.canvas));
        picture.scene.add(figure::RectItem{.area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2},
                                           .stroke = open ? theme.ink : theme.line2,
                                           .stroke_width = open ? 2.0F : 1.0F});
        draw_map_labels(picture, scene, area, above);
        picture.add_hotspot(area, "tile " + name, OpenHead{l, h}, tr("atlas_pinned.card", "Show its card"));
        draw_text(picture, context, x, y + 16,
                  scene.label(l, h).empty() ? tr("common.no_label", "no label") : scene.label(l, h),
                  Font::ui_semibold, 12.5F, theme.ink);
        draw_text_button(picture, context, x, y + 26, tr("common.unpin", "Unpin"), false, PinHead{heads[n]},
                         tr("atlas_pinned.takes_out", "Unpins {}", name));
        picture.hotspots.back().label = "unpin " + name;
    }
    y += 62;
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        if (!scene.atlas.known.test(static_cast<std::size_t>(info.score)))
            continue;
        double largest = -1e300;
        for (const GridHead& head : heads)
            largest = std::max(largest, scene.score(head.layer, head.head, info.score).value_or(-1e300));
        const float baseline = figure::baseline_for(y + score_row / 2, 12.5F);
        draw_hairline(picture, context, room.x, y, left + pitch * count - beside - between_maps - room.x);
        draw_text(picture, context, room.x, baseline, tr(info.name), Font::ui, 12.5F, theme.text);
        picture.tips.push_back({{room.x, y, names_width, score_row}, tr(info.formula)});
        for (std::size_t n = 0; n < heads.size(); ++n) {
            const auto value = scene.score(heads[n].layer, heads[n].head, info.score);
            const bool most = heads.size() > 1 && value && *value == largest;
            draw_text(picture, context, left + pitch * static_cast<float>(n), baseline,
                      scene.score_label(heads[n].layer, heads[n].head, info.score),
                      most ? Font::mono_semibold : Font::mono, 12.5F, most ? theme.ink : theme.text);
        }
        y += score_row;
    }
    return y;
}

} // namespace headscope::app
