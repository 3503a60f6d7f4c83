#include "app/draw/pages/map_layout.h"

#include "app/draw/kit/controls.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float largest_cell = 120.0F, smallest_map_cell = 2.0F;
constexpr float widest_shape = 1.5F; ///< maximum ratio of width to height for cells with numbers
constexpr float widest_gap = 84.0F;
constexpr float one_digit = 7.0F; ///< width saved by one decimal instead of two

float header_height(const DrawContext& context, float cell, bool captions) {
    return 30.0F + (captions ? 24.0F : 0.0F) + column_label_height(context, cell, true);
}

/// The width of cells with two decimals; slightly more if that avoids rotated labels above them.
float wide_cell(const DrawContext& context, float precise, float room) {
    constexpr float widest = 60.0F;
    float wide = precise;
    while (wide < std::min(room, widest) && column_labels_turned(context, wide, true))
        wide += 1;
    return wide <= room && !column_labels_turned(context, wide, true) ? wide : precise;
}

/// The minimum cell height of a single map with few rows: the view scrolls instead of omitting its numbers
/// or, if it has none, the names of its rows.
float least_cell(float rows, bool with_numbers) {
    return rows > rows_kept_readable ? 0.0F : with_numbers ? lowest_with_numbers : lowest_with_name;
}

} // namespace

float width_for_numbers(const DrawContext& context) {
    if (static_cast<float>(context.dims().Tq) > rows_kept_readable)
        return 0;
    const float cell = two_decimals_cell(0, 1, false) - one_digit;
    return row_label_width(context, false) + static_cast<float>(context.dims().Tk) * cell + sum_width +
           2 * canvas_pad;
}

MapLayout lay_out_maps(const DrawContext& context, std::int64_t maps, const LayoutSpace& room) {
    const Dims& dims = context.dims();
    const auto cols = static_cast<float>(dims.Tk), rows = static_cast<float>(dims.Tq);
    const float beside = room.label_width + (room.sums ? sum_width : 0.0F);
    const float height = std::max(room.height, least_maps_height);
    MapLayout best;
    const bool captions = context.height >= 640.0F;
    for (std::int64_t n = 1; n <= maps; ++n) {
        const auto count = static_cast<float>(n);
        const float lines = std::ceil(static_cast<float>(maps) / count);
        const float cell_w = std::floor((room.width - count * beside - (count - 1) * 24.0F) / count / cols);
        const float wide = wide_cell(context, room.precise_cell, cell_w);
        const float head = header_height(context, std::min(cell_w, wide), captions);
        const float fitting = std::floor((height - lines * (head + legend_height)) / lines / rows);
        const bool some_numbers = context.view.numbers && cell_w >= room.precise_cell - one_digit;
        const float cell_h = maps == 1 ? std::max(fitting, least_cell(rows, some_numbers)) : fitting;
        const float cell = std::min({largest_cell, cell_w, cell_h});
        const bool rough = some_numbers && cell >= lowest_with_numbers;
        const bool precise = rough && cell_w >= room.precise_cell;
        if (n == 1 || precise > best.fits_two_decimals ||
            (precise == best.fits_two_decimals && cell >= best.cell)) {
            best.per_row = n;
            best.cell = cell;
            best.cell_w = precise ? std::max(std::min(cell_w, std::floor(cell * widest_shape)), wide)
                          : rough ? std::max(cell, room.precise_cell - one_digit)
                                  : cell;
            best.fits_two_decimals = precise;
            best.fits_one_decimal = rough;
            best.head_height = header_height(context, best.cell_w, captions);
            best.captions = captions;
            const float spare = room.width - count * (beside + best.cell_w * cols);
            best.gap = n > 1 ? std::clamp(spare / (count - 1), 16.0F, widest_gap) : 32.0F;
        }
    }
    best.cell = std::max(best.cell, smallest_map_cell);
    best.cell_w = std::max(best.cell_w, smallest_map_cell);
    return best;
}

bool is_relative_term(TensorId id) {
    return id == TensorId::c2p || id == TensorId::p2c;
}

std::string map_unit(const DrawContext& context, TensorId id) {
    if (context.difference())
        // Translators: in this and similar messages, the text after the comma is dropped if it does not fit
        return tr("heatmap_page.b_same_scale", "B − A, same scale");
    if (tensor_info(id).scale == Scale::shares)
        return context.log_colours()     ? tr("common.weight_log_scale", "weight, log scale")
               : context.view.same_scale ? tr("heatmap_page.weight_same_scale", "weight, same scale")
                                         : tr("heatmap_page.weight_own_scale", "weight, own scale");
    const ScoreScale scale = context.view.attention.score_scale;
    if (is_relative_term(id))
        return scale == ScoreScale::row
                   ? tr("heatmap_page.row_term_rows_largest", "by row, term − row’s largest")
               : scale == ScoreScale::all ? tr("heatmap_page.term_same_scale", "term, same scale")
                                          : tr("heatmap_page.term_own_scale", "term, own scale");
    if (scale == ScoreScale::row)
        return id == TensorId::scores
                   ? tr("heatmap_page.row_score_rows_largest", "by row, score − row’s largest")
                   : tr("heatmap_page.row_scaled_score_rows", "by row, scaled score − row’s largest");
    const bool same = scale == ScoreScale::all;
    if (id != TensorId::scores)
        return same ? tr("heatmap_page.scaled_score_same_scale", "scaled score, same scale")
                    : tr("heatmap_page.scaled_score_own_scale", "scaled score, own scale");
    return same ? tr("heatmap_page.score_same_scale", "score, same scale")
                : tr("heatmap_page.score_own_scale", "score, own scale");
}

} // namespace headscope::app
