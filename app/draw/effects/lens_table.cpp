#include "app/draw/effects/effects.h"

#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float least_names = 62, row_height = 22, smallest_cell = 54;

} // namespace

float draw_lens(Picture& picture, const DrawContext& context, float y) {
    const EffectsLens* const lens = context.shown.lens.get();
    if (lens == nullptr || lens->layers.empty())
        return y;
    const Theme& theme = context.theme;
    const std::string embedding = tr("common.embed", "embed");
    const float names = std::max(least_names, context.measure(embedding, Font::ui, 12) + 8),
                right = context.width - canvas_pad, left = canvas_pad + names;
    draw_hairline(picture, context, canvas_pad, y, right - canvas_pad);
    const float taken =
        draw_text(picture, context, canvas_pad, y + 30, tr("lens_table.logit_lens", "Logit lens"),
                  Font::ui_semibold, 17, theme.ink);
    draw_text(
        picture, context, canvas_pad + taken + 14, y + 30,
        tr("lens_table.likeliest_next_token_model", "most likely next token if this layer were the last"),
        Font::ui, 12.5F, theme.muted);
    // The last columns that fit are shown.
    const auto room = static_cast<std::size_t>(std::max((right - left) / smallest_cell, 1.0F));
    const std::size_t count = lens->positions.size();
    const auto chosen = static_cast<std::size_t>(
        std::ranges::find(lens->positions, context.shown.effects->question.position) -
        lens->positions.begin());
    const std::size_t shown = std::min(room, count),
                      first = std::min(chosen + 1 > shown ? chosen + 1 - shown : 0, count - shown);
    const float cell_w = std::min((right - left) / static_cast<float>(shown), 92.0F);
    float top = y + 62;
    for (std::size_t n = 0; n < shown; ++n) {
        const std::int64_t position = lens->positions[first + n];
        const bool on = first + n == chosen;
        const std::string token =
            fitted(context, lens->tokens[first + n], on ? Font::ui_semibold : Font::ui, 12.5F, cell_w - 6);
        draw_text(picture, context, left + cell_w * (static_cast<float>(n) + 0.5F), top - 8, token,
                  on ? Font::ui_semibold : Font::ui, 12.5F, on ? theme.ink : theme.muted, Align::center);
        if (context.controls)
            picture.add_hotspot({left + cell_w * static_cast<float>(n), top - 22, cell_w, 20},
                                "lens at " + std::to_string(position), PredictAt{position},
                                tr("lens_table.take_prediction_after_token",
                                   "Attribute the prediction after token {}", position));
    }
    for (std::size_t l = 0; l < lens->layers.size(); ++l) {
        const float row = top + row_height * static_cast<float>(l);
        draw_text(picture, context, left - 8, figure::baseline_for(row + row_height / 2, 12),
                  l == 0 ? embedding : "L" + std::to_string(l - 1), Font::ui, 12, theme.muted, Align::right);
        for (std::size_t n = 0; n < shown; ++n) {
            const EffectsLens::Cell& cell = lens->layers[l][first + n];
            const figure::Rect area{left + cell_w * static_cast<float>(n), row, cell_w - 1, row_height - 1};
            const figure::Color fill = ramp_color(theme.neutral, static_cast<float>(cell.probability));
            picture.scene.add(figure::RectItem{.area = area, .fill = fill});
            draw_text(picture, context, area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, 12),
                      fitted(context, cell.token, Font::ui, 12, cell_w - 8), Font::ui, 12, text_on(fill),
                      Align::center);
            picture.tips.push_back({area, tr("lens_table.with", "{}: probability {}", cell.token,
                                             percent_text(cell.probability))});
        }
    }
    const float bottom = top + row_height * static_cast<float>(lens->layers.size());
    if (chosen < first + shown)
        picture.scene.add(figure::RectItem{.area = {left + cell_w * static_cast<float>(chosen - first) - 1,
                                                    top - 1, cell_w + 1, bottom - top + 1},
                                           .stroke = theme.ink,
                                           .stroke_width = 1.5F});
    constexpr float width = 100;
    draw_ramp(picture, theme.neutral, left, bottom + 12, width);
    draw_text(picture, context, left - 8, bottom + 20, "0", Font::mono, 12, theme.muted, Align::right);
    draw_text(picture, context, left + width + 8, bottom + 20,
              "1   " + tr("lens_table.probability_token", "probability of that token"), Font::ui, 12,
              theme.muted);
    return bottom + 34;
}

} // namespace headscope::app
