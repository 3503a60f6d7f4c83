#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/product.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float sign_gap = 36.0F;
constexpr float line_fixed = 52.0F;   ///< height of a line of matrices without its rows
constexpr float readable_row = 24.0F; ///< high enough for a number and its bar
/// With more columns or rows than these, the matrices are drawn small, without numbers.
constexpr std::int64_t most_readable_columns = 32, most_readable_rows = 12;

/// The division of the sum's matrices among lines.
struct SumLines {
    std::int64_t pieces = 0, per_line = 0;
    float cell_w = 0;
    bool readable = false; ///< every number is printed
    float lines() const { return static_cast<float>((pieces + per_line - 1) / per_line); }
};

SumLines sum_lines(const DrawContext& context, float width) {
    const Dims& dims = context.dims();
    SumLines out{.pieces = context.difference() ? dims.H : dims.H + 1};
    const auto fitting = [&](float smallest) {
        for (out.per_line = out.pieces; out.per_line >= 1; --out.per_line) {
            const auto n = static_cast<float>(out.per_line);
            out.cell_w = std::floor((width - row_label_width(context, false) - (n - 1) * sign_gap) / n /
                                    static_cast<float>(dims.D));
            if (out.cell_w >= smallest)
                return true;
        }
        out.per_line = 1;
        return false;
    };
    out.readable = out.pieces * dims.D <= most_readable_columns && dims.Tq <= most_readable_rows &&
                   fitting(readable_cell);
    if (!out.readable)
        fitting(3.0F);
    out.cell_w = std::clamp(out.cell_w, 2.0F, 60.0F);
    return out;
}

float figure_limit(const DrawContext& context, std::int64_t batch) {
    return std::max(largest_magnitude(context, TensorId::contributions, batch),
                    largest_magnitude(context, TensorId::output, batch));
}

MatrixSpec sized(MatrixSpec spec, float x, float y, float cell_w, float cell_h, float limit) {
    spec.x = x;
    spec.y = y;
    spec.cell_w = cell_w;
    spec.cell_h = cell_h;
    spec.high = limit;
    return spec;
}

/// Draws "‖Δ‖ 1.46", right-aligned above the cells of a head.
void draw_change_norm(Picture& picture, const DrawContext& context, const MatrixGrid& grid, std::int64_t head,
                      float baseline, float taken) {
    const analysis::TensorDifference* change =
        context.difference() ? context.compare->of(TensorId::contributions) : nullptr;
    if (change == nullptr)
        return;
    const double norm = change->head_norms[static_cast<std::size_t>(head)];
    const std::string text = "‖Δ‖ " + (norm == 0 ? "0" : number(norm, norm < 0.005 ? 4 : 2));
    if (taken + context.measure(text, figure::Font::mono_semibold, 13) <= grid.area.w)
        draw_text(picture, context, grid.area.right() - 1, baseline, text, figure::Font::mono_semibold, 13,
                  context.theme.ink, figure::Align::right);
    else
        picture.tips.push_back({{grid.area.x, baseline - 14, grid.area.w, 18}, text});
}

} // namespace

float sum_of_heads_height(const DrawContext& context, float width, float row_height) {
    return 58 + sum_lines(context, width).lines() *
                    (line_fixed + row_height * static_cast<float>(context.dims().Tq));
}

float draw_sum_of_heads(Picture& picture, const DrawContext& context, const figure::Rect& room) {
    const Dims& dims = context.dims();
    const Theme& theme = context.theme;
    const std::int64_t b = context.view.batch;
    const bool bias = context.shown.tensor(TensorId::b_O) != nullptr;
    const bool change = context.difference();
    const std::string formula =
        change ? tr("sum_of_heads.root_sum_heads_squared", "‖Δ‖: root of the sum of a head's squared changes")
               : context.shown.attention().formula(TensorId::contributions);
    const float title = draw_text(picture, context, room.x, room.y + 16,
                                  change ? tr("sum_of_heads.head_moved", "Heads that changed it")
                                         : tr("sum_of_heads.same_output_sum", "The same output, as a sum"),
                                  figure::Font::ui_semibold, 17, theme.ink);
    if (title + 20 + context.measure(formula, figure::Font::mono, 12.5F) < room.w)
        draw_text(picture, context, room.x + title + 16, room.y + 16, formula, figure::Font::mono, 12.5F,
                  theme.muted);

    const float labels = row_label_width(context, false);
    const SumLines deal = sum_lines(context, room.w);
    const std::int64_t pieces = deal.pieces, per_line = deal.per_line;
    const float cell_w = deal.cell_w, lines = deal.lines();
    if (!deal.readable && pieces * dims.D <= most_readable_columns)
        picture.width_for_all_numbers = 2 * canvas_pad + labels + static_cast<float>(pieces - 1) * sign_gap +
                                        readable_cell * static_cast<float>(pieces * dims.D);
    const float cell_h =
        std::clamp(std::floor((room.h - 34 - 24 - lines * line_fixed) / lines / static_cast<float>(dims.Tq)),
                   deal.readable                   ? readable_row
                   : dims.Tq <= most_readable_rows ? lowest_with_name
                                                   : 4.0F,
                   40.0F);
    const float limit = figure_limit(context, b);
    const float width = cell_w * static_cast<float>(dims.D);
    const float line_height = line_fixed + cell_h * static_cast<float>(dims.Tq);

    for (std::int64_t piece = 0; piece < pieces; ++piece) {
        const auto col = static_cast<float>(piece % per_line), line = static_cast<float>(piece / per_line);
        const float x = room.x + labels + col * (width + sign_gap);
        const float y = room.y + 34 + line * line_height + 34;
        const bool last = piece == dims.H;
        MatrixSpec spec;
        if (last) {
            spec = {.tensor = TensorId::output,
                    .origin = {b, 0, 0, 0},
                    .row_axis = 1,
                    .col_axis = 2,
                    .rows = dims.Tq,
                    .cols = dims.D};
            const Shown& shown = context.shown;
            spec.head_contribution = [&shown, b](std::int64_t row, std::int64_t c, std::int64_t h) {
                return shown.value({TensorId::contributions, {b, h, row, c}});
            };
        } else {
            spec = {.tensor = TensorId::contributions,
                    .origin = {b, piece, 0, 0},
                    .row_axis = 2,
                    .col_axis = 3,
                    .rows = dims.Tq,
                    .cols = dims.D,
                    .owner = [piece](std::int64_t, std::int64_t) { return piece; }};
        }
        const MatrixGrid grid = draw_matrix(picture, context, sized(spec, x, y, cell_w, cell_h, limit));
        const std::string name =
            difference_name(context, last ? "output" : "contributions[" + std::to_string(piece) + "]");
        draw_change_norm(picture, context, grid, piece, y - 14,
                         context.measure(name, figure::Font::mono, 13) + 12);
        const bool fits = context.measure(name, figure::Font::mono, 13) <= width + sign_gap - 8;
        draw_text(picture, context, x, y - 14,
                  fits   ? name
                  : last ? "output"
                         : "[" + std::to_string(piece) + "]",
                  figure::Font::mono, 13, theme.ink);
        if (last)
            picture.scene.add(figure::RectItem{.area = {x, y - 8, width - 1, 4}, .fill = theme.line2});
        else
            draw_head_bar(picture, context, piece, x, y - 8, width - 1);
        if (piece % per_line == 0)
            draw_row_labels(picture, context, grid, false);
        // At the start of a line, row labels take the position of the sign.
        const bool begins = piece % per_line == 0;
        if (piece > 0)
            draw_text(picture, context, begins ? x - 14 : x - sign_gap / 2,
                      begins ? y - 13 : figure::baseline_for(grid.area.y + grid.area.h / 2, 17),
                      last ? "=" : "+", figure::Font::ui, 17, theme.muted, figure::Align::center);
    }
    const bool by_colour = picture.grids.back().heatmap && !change;
    const float below = room.y + 34 + lines * line_height;
    std::string note;
    if (!by_colour && !change)
        note =
            tr("sum_of_heads.bar_under_number_size",
               "bar under a number: its size, from zero in the middle of the cell; in output, one piece per "
               "head, head 0 next to zero. Full half cell = {}",
               number(limit, 2));
    if (bias && change && changed_text(factor_context(context), TensorId::b_O, "").empty())
        note = "";
    else if (bias)
        note = tr("sum_of_heads.output_also_holds_b", "output also holds b_O, the same in every row") +
               (note.empty() ? "" : ". ") + note;
    if (!note.empty())
        return draw_paragraph(picture, context, room.x + labels, below + 8, room.w - labels, note,
                              figure::Font::ui, 12.5F, 17, theme.muted) -
               room.y;
    if (by_colour) {
        draw_legend(picture, context, room.x + labels, below, 160, theme.diverging, -limit, limit,
                    tr("common.value", "value"), false);
        return below + 34 - room.y;
    }
    return below - room.y;
}

} // namespace headscope::app
