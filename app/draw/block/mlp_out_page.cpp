#include "app/draw/block/block_parts.h"
#include "app/draw/block/expert_weights.h"
#include "app/draw/block/row_blocks.h"
#include "app/draw/block/unit_weights.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using enum TensorId;

constexpr float unit_row = 22, bias_height = 140;
constexpr std::size_t listed_units = 12;

/// Which units add most to the row: the activation times the length of the unit's row of W_out.
float draw_units(Picture& picture, const DrawContext& context, float y) {
    const Theme& theme = context.theme;
    const Shown& shown = context.shown;
    const std::int64_t i = row_around(context);
    draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
    y += 26;
    const float title = draw_text(picture, context, canvas_pad, y,
                                  tr("mlp_out_page.units_add_most", "Units that add most at “{}”",
                                     shortened(query_word(shown.problem(), i), 12)),
                                  figure::Font::ui_semibold, 15, theme.ink);
    draw_text(picture, context, canvas_pad + title + 12, y,
              tr("mlp_out_page.mlp_act_length_units", "|mlp_act| × length of the unit’s row of W_out"),
              figure::Font::mono, 12.5F, theme.muted);
    y += 12;
    const std::vector<std::int64_t> units = strongest_units(context, i, listed_units);
    const auto lengths = unit_lengths(context);
    const std::span<const float> act = row_of(shown, mlp_act, i);
    const auto adds = [&](std::int64_t unit) {
        return std::abs(act[static_cast<std::size_t>(unit)]) * (*lengths)[static_cast<std::size_t>(unit)];
    };
    const float bar = canvas_pad + 300, room = context.width - canvas_pad - bar - 60,
                most = std::max(adds(units.front()), 1e-6F);
    for (const std::int64_t unit : units) {
        const float baseline = figure::baseline_for(y + unit_row / 2, 12.5F);
        const auto at = static_cast<std::size_t>(unit);
        draw_text(picture, context, canvas_pad, baseline, tr("common.unit_2", "unit {}", unit),
                  figure::Font::mono_semibold, 12.5F, theme.ink);
        draw_text(picture, context, canvas_pad + 180, baseline, number(static_cast<double>(act[at]), 2),
                  figure::Font::mono, 12.5F, theme.text, figure::Align::right);
        draw_text(picture, context, canvas_pad + 196, baseline, "×", figure::Font::mono, 12.5F, theme.muted);
        draw_text(picture, context, canvas_pad + 270, baseline,
                  number(static_cast<double>((*lengths)[at]), 2), figure::Font::mono, 12.5F, theme.text,
                  figure::Align::right);
        picture.scene.add(
            figure::RectItem{.area = {bar, y + 6, room * adds(unit) / most, 10}, .fill = theme.muted});
        draw_text(picture, context, context.width - canvas_pad, baseline,
                  number(static_cast<double>(adds(unit)), 2), figure::Font::mono_semibold, 12.5F, theme.ink,
                  figure::Align::right);
        y += unit_row;
    }
    return y;
}

std::string contribution(TensorId id) {
    if (id == mlp_shared)
        return tr("mlp_out_page.shared_adds", "contribution of the shared expert, which every token uses");
    if (id == mlp_experts)
        return tr("mlp_out_page.experts_add", "contribution of the experts that the router chose");
    return tr("mlp_out_page.mlp_adds_residual_stream", "contribution of the MLP to the residual stream");
}

} // namespace

Picture draw_mlp_out_page(const DrawContext& context) {
    const TensorId id = group_info(context.view.group).main;
    if (norm_at(context.shown, id))
        return draw_norm_page(context);
    if (made_from(context.shown, id).size() > 1 || branch_scale(context.shown, id))
        return draw_residual_page(context);
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(context.shown, id), formula_around(context.shown, id));
    const bool units = is_output_of_mlp(context.shown, id);
    const float below = (units ? static_cast<float>(listed_units) * unit_row + 54 : 0.0F) +
                        (units && context.shown.tensor(b_out) != nullptr ? bias_height : 0.0F) +
                        (units ? 0.0F : expert_weights_height(context));
    float y =
        draw_row_blocks(picture, context, {{id, "", contribution(id)}}, 104, context.height - 104 - below);
    if (units)
        y = draw_units(picture, context, y + 8);
    y = units ? draw_output_bias(picture, context, y + 16) : draw_expert_weights(picture, context, y + 16);
    picture.scene.height = std::max(context.height, y + 16);
    return picture;
}

} // namespace headscope::app
