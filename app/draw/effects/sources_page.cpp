#include "app/draw/effects/effects.h"
#include "app/draw/effects/signed_cells.h"
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

constexpr float source_map_top = 124, widest_sums = 170, narrowest_sums = 130, source_number_width = 62,
                source_legend_height = 74, largest_source_cell = 64;

/// Draws the sum of each row at its right: the head's contribution at that position. A click analyzes the
/// prediction at that position.
void draw_sums_of_sources(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                          const EffectsSources& sources, float width) {
    const Theme& theme = context.theme;
    const std::int64_t open = context.shown.effects->question.position;
    const float left = grid.area.right() + 12;
    if (grid.pitch_y >= 14)
        draw_text(picture, context, left + width, grid.area.y - 10,
                  tr("sources_page.sum_heads_part", "sum: the head’s contribution"), Font::ui, 12,
                  theme.muted, Align::right);
    for (std::int64_t i = 0; i < grid.rows; ++i) {
        const figure::Rect row = grid.cell(i, 0);
        const double sum = sources.sums[static_cast<std::size_t>(i)];
        const std::string& token = context.shown.effects->queries[static_cast<std::size_t>(i)];
        if (grid.pitch_y >= 14) {
            draw_signed_bar(picture, theme, {left, row.y, width - source_number_width, row.h}, sum,
                            sources.max_abs);
            draw_text(picture, context, left + width, figure::baseline_for(row.y + row.h / 2, 12.5F),
                      signed_number(sum, 2), Font::mono, 12.5F, i == open ? theme.ink : theme.text,
                      Align::right);
        }
        const figure::Rect beside{left, row.y, width, grid.pitch_y};
        const std::string adds = signed_number(sum, 3);
        if (context.controls)
            picture.add_hotspot(beside, "position " + std::to_string(i), PredictAt{i},
                                tr("sources_page.after_head_adds_click",
                                   "After {} the head adds {}. Click to attribute this prediction.", token,
                                   adds));
        else
            picture.tips.push_back(
                {beside, tr("sources_page.after_head_adds", "After {} the head adds {}", token, adds)});
    }
    const figure::Rect first = grid.cell(open, 0);
    draw_selected_cell(picture, theme, {grid.area.x, first.y, grid.area.w, first.h});
}

} // namespace

void draw_sources_map(Picture& picture, const DrawContext& context) {
    const Effects& effects = *context.shown.effects;
    const EffectsSources* const sources = context.shown.sources.get();
    const std::int64_t l = context.view.attention.layer, h = context.view.head;
    const bool is_head = effects.has(l, h);
    const bool known = sources != nullptr && is_head;
    draw_view_heading(
        picture, context,
        known ? tr("sources_page.brings_every_position", "Contribution of {} at every position",
                   component_name(effects.part(sources->place.layer, sources->head).writer))
              : tr("sources_page.open_head_brings_every", "Contribution of the open head at every position"),
        effects.against.empty()
            ? tr("sources_page.weights_i_j_v",
                 "weights[i, j] · v[j] W_O · (W_U[{}] − mean W_U), LayerNorm frozen at row i", effects.token)
            : tr("sources_page.weights_i_j_v_2",
                 "weights[i, j] · v[j] W_O · (W_U[{}] − W_U[{}]), LayerNorm frozen at row i", effects.token,
                 effects.against));
    draw_question_fields(picture, context);
    if (!known) {
        draw_message(
            picture, context,
            is_head
                ? tr("sources_page.heads_parts_worked_out", "The head's contributions are being computed.")
                : tr("sources_page.mean_heads_no_parts",
                     "A mean of heads has no contributions of its own. Select a head in the grid."),
            false, source_map_top);
        return;
    }
    const std::int64_t Tq = sources->map.shape()[0], Tk = sources->map.shape()[1];
    if (Tq != context.dims().Tq || Tk != context.dims().Tk) {
        draw_message(picture, context,
                     tr("sources_page.parts_belong_single_tokens",
                        "These contributions belong to single tokens. Show "
                        "words as tokens again (Heads) to see them."),
                     false, source_map_top);
        return;
    }
    const float labels = row_label_width(context, false);
    const double limit = effects_limit(sources->max_abs);
    const float room_w = context.width - 2 * canvas_pad - labels - 12;
    const auto cell_beside = [&](float sums) {
        return std::min(std::floor((room_w - sums) / static_cast<float>(Tk)), largest_source_cell);
    };
    // The bars of the sums shrink first if that leaves room for numbers with two decimals.
    const float readable = two_decimals_cell(static_cast<float>(-limit), static_cast<float>(limit), false);
    const float sums = cell_beside(widest_sums) < readable && cell_beside(narrowest_sums) >= readable
                           ? narrowest_sums
                           : widest_sums;
    const auto fits = [&](float cell) {
        return column_label_height(context, cell, true) + cell * static_cast<float>(Tq);
    };
    const float room_h = context.height - source_map_top - source_legend_height;
    float cell = cell_beside(sums);
    while (cell > 14 && fits(cell) > room_h)
        --cell;
    cell = std::max(cell, 2.0F);
    // If only the height is limited, cells are wide enough for two decimals.
    const float wide =
        cell < lowest_with_numbers ? cell : std::min(cell_beside(sums), std::max(cell, readable));
    const std::int64_t head = std::clamp<std::int64_t>(sources->head, 0, context.dims().H - 1);
    MatrixSpec spec{.tensor = TensorId::weights,
                    .origin = {0, head, 0, 0},
                    .row_axis = 2,
                    .col_axis = 3,
                    .rows = Tq,
                    .cols = Tk,
                    .x = canvas_pad + labels,
                    .y = source_map_top + column_label_height(context, wide, true),
                    .cell_w = wide,
                    .cell_h = cell,
                    .fill = CellFill::diverging,
                    .high = static_cast<float>(limit),
                    .zero_as_dot = true};
    spec.value = [&](std::int64_t i, std::int64_t j) { return sources->map.at(i, j); };
    const MatrixGrid grid = draw_matrix(picture, context, spec);
    draw_row_labels(picture, context, grid, false);
    draw_column_labels(picture, context, grid, true);
    draw_sums_of_sources(picture, context, grid, *sources, sums);
    draw_legend(picture, context, spec.x, grid.area.bottom() + 18, 160, context.theme.diverging,
                static_cast<float>(-limit), static_cast<float>(limit),
                effects.against.empty()
                    ? tr("sources_page.logits_towards_below_0",
                         "logits towards {}, below 0 (violet): away from it", effects.token)
                    : tr("sources_page.logits_towards_below_0_2",
                         "logits towards {}, below 0 (violet): towards {}", effects.token, effects.against),
                false);
    picture.scene.width = std::max(context.width, grid.area.right() + 12 + sums + canvas_pad);
    picture.scene.height = std::max(context.height, grid.area.bottom() + source_legend_height);
}

} // namespace headscope::app
