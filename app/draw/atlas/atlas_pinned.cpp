#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float names_width = 150, score_row = 24, top = 104, between_maps = 24;

} // namespace

float draw_atlas_pinned(Picture& picture, const AtlasScene& scene, const figure::Rect& room) {
    const DrawContext& context = scene.context;
    const Theme& theme = context.theme;
    std::vector<PlaceOnBoard> heads = scene.view().pinned;
    std::erase_if(heads, [&](const PlaceOnBoard& head) {
        return head.layer >= scene.atlas.L || head.head >= scene.atlas.H;
    });
    draw_page_head(
        picture, context, tr("Pinned heads"),
        tr_n("{} head side by side", "{} heads side by side", std::ssize(heads), grouped(std::ssize(heads))));
    if (heads.empty()) {
        return draw_paragraph(
            picture, context, room.x, 130, room.w,
            tr("No head is pinned. Pin heads by the star in the list of the atlas or by the "
               "button on their card; they are compared here."),
            Font::ui, 13.5F, 20, theme.text);
    }
    const auto count = static_cast<float>(heads.size());
    const float pitch = std::max(110.0F, std::min(340.0F, (room.w - names_width) / count)),
                map = pitch - between_maps;
    picture.scene.width = std::max(context.width, room.x + names_width + pitch * count + canvas_pad);
    float y = top + map + 14;
    for (std::size_t n = 0; n < heads.size(); ++n) {
        const auto [l, h] = heads[n];
        const float x = room.x + names_width + pitch * static_cast<float>(n);
        const bool open = scene.open(l, h);
        const std::string name = scene.name(l, h);
        draw_text(picture, context, x, top - 10, name, open ? Font::mono_semibold : Font::mono, 14,
                  theme.ink);
        const figure::Rect area{x, top, std::floor(map), std::floor(map)};
        picture.scene.add(tile_picture(scene, l, h, area, theme.canvas));
        picture.scene.add(figure::RectItem{.area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2},
                                           .stroke = open ? theme.ink : theme.line2,
                                           .stroke_width = open ? 2.0F : 1.0F});
        picture.hotspots.push_back(
            {area, "tile " + name, ViewChange(AttentionChange(OpenHead{l, h})), tr("Its card")});
        draw_text(picture, context, x, y + 16, scene.label(l, h).empty() ? tr("no label") : scene.label(l, h),
                  Font::ui_semibold, 12.5F, theme.ink);
        draw_text_button(picture, context, x, y + 26, tr("Unpin"), false,
                         ViewChange(AttentionChange(AtlasChange(PinHead{heads[n]}))),
                         tr("Takes {} out", name));
        picture.hotspots.back().label = "unpin " + name;
    }
    y += 62;
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        if (!scene.atlas.known.test(static_cast<std::size_t>(info.score)))
            continue;
        double largest = -1e300;
        for (const PlaceOnBoard& head : heads)
            largest = std::max(largest, scene.score(head.layer, head.head, info.score).value_or(-1e300));
        const float baseline = figure::baseline_for(y + score_row / 2, 12.5F);
        draw_hairline(picture, context, room.x, y, names_width + pitch * count);
        draw_text(picture, context, room.x, baseline, tr(info.name), Font::ui, 12.5F, theme.text);
        picture.tips.push_back({{room.x, y, names_width, score_row}, tr(info.formula)});
        for (std::size_t n = 0; n < heads.size(); ++n) {
            const auto value = scene.score(heads[n].layer, heads[n].head, info.score);
            const bool most = heads.size() > 1 && value && *value == largest;
            draw_text(picture, context, room.x + names_width + pitch * static_cast<float>(n), baseline,
                      scene.score_words(heads[n].layer, heads[n].head, info.score),
                      most ? Font::mono_semibold : Font::mono, 12.5F, most ? theme.ink : theme.text);
        }
        y += score_row;
    }
    return y;
}

} // namespace headscope::app
