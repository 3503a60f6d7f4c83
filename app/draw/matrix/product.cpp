#include "app/draw/matrix/product.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/product_overview.h"
#include "app/draw/matrix/product_window.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float highest_cell = 56.0F, smallest_cell = 3.0F;
/// The size of cells that print numbers in a product shown in parts. In a checkpoint, cells shrink until each
/// factor has fewest_columns columns and the result fewest_rows rows.
constexpr float part_cell_w = 40.0F, part_cell_h = 22.0F;
constexpr std::int64_t fewest_rows = 8;
constexpr float factor_gap = 40.0F;  ///< between the left factor and the result
constexpr float name_height = 22.0F; ///< height of the name above a matrix
constexpr float bar_height = 12.0F;  ///< height of the bars of heads above a matrix
constexpr float result_gap = 40.0F;  ///< from the bottom of the right factor to the first row of the result
constexpr float bias_height = 30.0F;

bool has_bias(const DrawContext& context, const ProductSpec& spec) {
    return spec.bias != TensorId::gain && context.shown.tensor(spec.bias) != nullptr;
}

float token_header(const DrawContext& context, const ProductSpec& spec, float cell_w) {
    return spec.left_token_columns ? column_label_height(context, cell_w, true) : 0.0F;
}

float head_label_width(const DrawContext& context, const ProductSpec& spec) {
    if (spec.right_row_heads > 0)
        return 84.0F;
    return spec.right_token_rows ? row_label_width(context, true) : 0.0F;
}

constexpr float name_size = 13.5F;

/// Small cells are rounded to a quarter of a pixel, because whole pixels would leave much of the space empty.
float whole_pixels(float cell_w) {
    constexpr float parts = 4;
    return cell_w < texture_below ? std::floor(cell_w * parts) / parts : std::floor(cell_w);
}

/// further_left: the distance of the name's start from the grid's left edge.
void draw_name(Picture& picture, const DrawContext& context, const MatrixGrid& grid, const std::string& name,
               const std::string& shape, float above, float further_left = 0) {
    const float baseline = grid.area.y - above;
    const float width = draw_text(picture, context, grid.area.x - further_left, baseline, name,
                                  figure::Font::mono_semibold, name_size, context.theme.ink);
    const float shape_width = context.measure(shape, figure::Font::mono, 12);
    if (width + shape_width + 12 <= grid.area.w)
        draw_text(picture, context, grid.area.right() - grid.gap, baseline, shape, figure::Font::mono, 12,
                  context.theme.muted, figure::Align::right);
    else if (grid.area.w < width)
        picture.tips.push_back({{grid.area.x, baseline - 14, width, 18}, name + "  " + shape});
}

void draw_bars(Picture& picture, const DrawContext& context, const MatrixGrid& grid, std::int64_t head_cols,
               bool kv, std::int64_t head) {
    if (head_cols > 0)
        draw_head_bars(picture, context, grid, head_cols, kv);
    else if (head_cols < 0)
        draw_head_bar(picture, context, head, grid.area.x, grid.area.y - 8, grid.area.w - grid.gap);
}

/// Labels the rows of W_O by head: a bar and a name to the left of each block.
void draw_row_heads(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                    const MatrixGrid& grid) {
    const std::int64_t rows_each = spec.right_row_heads;
    // The grid may be a part of the matrix and start or end inside a head's rows.
    const std::int64_t grid_first = grid.origin[static_cast<std::size_t>(grid.row_axis)];
    for (std::int64_t first = 0; first < grid.rows;) {
        const std::int64_t head = (grid_first + first) / rows_each;
        const std::int64_t end = std::min((head + 1) * rows_each - grid_first, grid.rows);
        const float block = grid.pitch_y * static_cast<float>(end - first);
        const float y = grid.area.y + grid.pitch_y * static_cast<float>(first);
        first = end;
        const figure::Color color = context.theme.head(head, context.dims().H).colour;
        const bool off = context.shown.problem().gain(head) == 0.0F;
        picture.scene.add(figure::RectItem{.area = {grid.area.x - 10, y, 4, block - 1},
                                           .fill = off ? figure::Color{0} : color,
                                           .stroke = color});
        if (context.controls)
            picture.add_hotspot({grid.area.x - 96, y, 90, block},
                                "ablate head " + std::to_string(head) + " at " + spec.right_name,
                                SetGain{head, off ? 1.0F : 0.0F},
                                off ? tr("common.switch_head_again", "Restore head {}", head)
                                    : tr("common.switch_head_ablate", "Ablate head {}", head));
        const std::string rows =
            tr("product.rows", "rows {} to {}", head * rows_each, (head + 1) * rows_each - 1);
        const float middle = y + block / 2;
        const auto name = [&](float baseline, figure::Font font, float size) {
            const float taken =
                draw_text(picture, context, grid.area.x - 20, baseline, tr("common.head", "Head {}", head),
                          font, size, context.theme.ink, figure::Align::right);
            if (off)
                strike_out(picture, grid.area.x - 20, baseline, taken, size, context.theme.ink,
                           figure::Align::right);
        };
        if (block >= 34) {
            name(middle - 3, figure::Font::ui_semibold, 13);
            draw_text(picture, context, grid.area.x - 20, middle + 14, rows, figure::Font::ui, 12,
                      context.theme.muted, figure::Align::right);
        } else if (block >= 14) {
            name(figure::baseline_for(middle, 12), figure::Font::ui, 12);
        }
    }
}

MatrixGrid place(Picture& picture, const DrawContext& context, MatrixSpec spec, float x, float y,
                 float cell_w, float cell_h) {
    spec.x = x;
    spec.y = y;
    spec.cell_w = cell_w;
    spec.cell_h = cell_h;
    return draw_matrix(picture, context, spec);
}

void draw_bias(Picture& picture, const DrawContext& context, const ProductSpec& spec,
               const MatrixGrid& result) {
    MatrixSpec bias{.tensor = spec.bias,
                    .origin = {result.origin[static_cast<std::size_t>(result.col_axis)], 0, 0, 0},
                    .row_axis = 3,
                    .col_axis = 0,
                    .rows = 1,
                    .cols = result.cols,
                    .high = largest_magnitude(context, spec.bias, 0),
                    .decimals = 2,
                    .owner = spec.result.owner};
    const float y = result.area.bottom() + 12;
    const MatrixGrid grid = place(picture, context, bias, result.area.x, y, result.pitch_x, result.pitch_y);
    draw_text(picture, context, grid.area.x - 12, figure::baseline_for(grid.area.y + grid.area.h / 2, 12.5F),
              tr("product.each_row", "each row + {}", tensor_info(spec.bias).name), figure::Font::mono, 12.5F,
              context.theme.muted, figure::Align::right);
}

/// Draws a part of the product, the pager below it and, if there is space, the overview of the right factor.
ProductLayout draw_part(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                        const ProductWindow& window, const figure::Rect& room, float right_labels) {
    const float pager = 14 + pager_height(context, spec, window, room.w);
    ProductLayout layout =
        draw_product(picture, context, windowed(spec, window), {room.x, room.y, room.w, room.h - pager});
    draw_pager(picture, context, spec, window, room.x, layout.area.bottom() + 14);
    layout.area.h += pager;
    const float header = token_header(context, spec, layout.left.pitch_x);
    constexpr float title_end = 92; // lower edge of the title, next to which a product may start
    const float top = std::max(room.y, title_end);
    const figure::Rect corner{room.x, top, layout.right.area.x - right_labels - 12 - room.x,
                              layout.left.area.y - header - name_height - 12 - top};
    if (window.inner.count < window.inner.all || window.cols.count < window.cols.all)
        layout.has_overview = draw_product_overview(picture, context, spec, window, corner);
    return layout;
}

} // namespace

float product_height(const DrawContext& context, const ProductSpec& spec, float cell_h) {
    return name_height + bar_height + cell_h * static_cast<float>(spec.right.rows) + result_gap +
           cell_h * static_cast<float>(spec.result.rows) +
           (has_bias(context, spec) ? bias_height + 12 : 0.0F) + 8;
}

ProductLayout draw_product(Picture& picture, const DrawContext& context, const ProductSpec& spec,
                           const figure::Rect& room) {
    const float labels = row_label_width(context, spec.left_keys);
    const float right_labels = std::max(head_label_width(context, spec), factor_gap);
    const auto left_cols = static_cast<float>(spec.left.cols),
               result_cols = static_cast<float>(spec.result.cols);
    const auto right_rows = static_cast<float>(spec.right.rows), rows = static_cast<float>(spec.result.rows);
    const bool bias = has_bias(context, spec);

    // The row labels of the right factor are above the left factor's columns, so only the wider of the two
    // counts.
    float cell_w = whole_pixels((room.w - labels - factor_gap) / (left_cols + result_cols));
    if (left_cols * cell_w + factor_gap < right_labels)
        cell_w = whole_pixels((room.w - labels - right_labels) / std::max(result_cols, 1.0F));
    cell_w = std::clamp(cell_w, smallest_cell, spec.widest_cell);
    const float fixed = product_height(context, spec, 0);
    // A few rows keep their numbers even on a low canvas, which then scrolls.
    constexpr float readable_row = 20.0F, narrowest_number = 24.0F;
    // Numbers have priority over columns: show as many columns of the result as fit with numbers.
    const float beside = labels + std::max(left_cols * readable_cell + factor_gap, right_labels);
    const auto fit = static_cast<std::int64_t>((room.w - beside) / readable_cell);
    const bool leafed = context.controls && !context.shown.document->has_head_grid();
    const bool paged = leafed && fit >= 1;
    // If no result column fits next to all columns of the left factor, show parts of both factors.
    constexpr std::int64_t fewest_with_numbers = 4;
    const auto fit_in_all = static_cast<std::int64_t>((room.w - labels - right_labels) / readable_cell);
    const bool both_leafed =
        leafed && cell_w < narrowest_number && fit < 1 && fit_in_all >= fewest_with_numbers;
    const bool numbers = context.view.numbers && (cell_w >= narrowest_number || paged || both_leafed);
    const float least = right_rows + rows <= rows_kept_readable && numbers ? readable_row : smallest_cell;
    const float cell_h = std::clamp(std::floor((room.h - fixed) / (right_rows + rows)), least, highest_cell);

    // Too large even with the smallest cells: show a part with larger, draggable cells.
    const bool too_wide = labels + right_labels + (left_cols + result_cols) * cell_w > room.w;
    const bool too_high = fixed + (right_rows + rows) * cell_h > room.h;
    if (!spec.is_part && ((too_wide && cell_w <= smallest_cell) || (too_high && cell_h <= smallest_cell))) {
        const float pager = 14 + pager_height(context, spec, room.w);
        const auto wide = static_cast<std::int64_t>((room.w - labels - right_labels) / part_cell_w);
        const auto high = static_cast<std::int64_t>((room.h - fixed - pager) / part_cell_h);
        // The numbers of a problem are its lesson; those of a checkpoint are in the inspector.
        const bool shrinks = context.shown.document->has_head_grid();
        const std::int64_t columns = shrinks ? fewest_columns : 1, least_rows = shrinks ? fewest_rows : 1,
                           inner = std::max(std::min(wide, high) / 2, columns);
        const ProductWindow window = product_window(context, spec, std::max(wide, inner + columns),
                                                    std::max(high, inner + least_rows), inner);
        const bool smaller = window.inner.count < spec.left.cols || window.cols.count < spec.right.cols ||
                             window.rows.count < spec.result.rows;
        if (smaller)
            return draw_part(picture, context, spec, window, room, right_labels);
    }

    if (!spec.is_part && cell_w < readable_cell && cell_h >= lowest_with_numbers && paged &&
        fit < spec.result.cols) {
        const ProductWindow window = product_window(context, spec, fit + spec.left.cols,
                                                    spec.left.cols + spec.result.rows, spec.left.cols);
        return draw_part(picture, context, spec, window, room, right_labels);
    }

    // With few rows, a low canvas scrolls.
    const std::int64_t inner_fit = fit_in_all / 2;
    const bool few_in_part = rows + static_cast<float>(inner_fit) <= rows_kept_readable;
    if (!spec.is_part && both_leafed && numbers && (cell_h >= lowest_with_numbers || few_in_part)) {
        const ProductWindow window =
            product_window(context, spec, fit_in_all, inner_fit + spec.result.rows, inner_fit);
        return draw_part(picture, context, spec, window, room, right_labels);
    }

    const float to_result = labels + std::max(left_cols * cell_w + factor_gap, right_labels);
    const float spare = std::max(room.w - to_result - result_cols * cell_w, 0.0F);
    const float left_x = room.x + spare / 2 + labels;
    const float result_x = room.x + spare / 2 + to_result;
    const float right_y = room.y + name_height + bar_height;
    const float header = token_header(context, spec, cell_w);
    const float result_y = right_y + right_rows * cell_h + result_gap;

    ProductLayout layout;
    const DrawContext factors = factor_context(context);
    layout.right = place(picture, factors, spec.right, result_x, right_y, cell_w, cell_h);
    layout.left = place(picture, factors, spec.left, left_x, result_y, cell_w, cell_h);
    layout.result = place(picture, context, spec.result, result_x, result_y, cell_w, cell_h);

    // Names of heads are at the ends of their bars, below the matrix's name.
    const auto above = [](std::int64_t head_cols) { return head_cols > 0 ? 17.0F : 14.0F; };
    draw_name(picture, context, layout.right, spec.right_name,
              changed_text(factors, spec.right.tensor, spec.right_shape), above(spec.right_head_cols));
    draw_name(picture, context, layout.result, difference_name(context, spec.result_name), spec.result_shape,
              above(spec.result_head_cols));
    // The tokens of the right factor's rows are to the right of the left factor's name and may be long.
    const float name_end =
        left_x + context.measure(spec.left_name, figure::Font::mono_semibold, name_size) + 12;
    const bool meets_tokens = spec.right_token_rows && name_end > result_x - row_label_width(context, true);
    draw_name(picture, context, layout.left, spec.left_name,
              changed_text(factors, spec.left.tensor, spec.left_shape), above(spec.left_head_cols) + header,
              meets_tokens ? labels : 0);
    draw_bars(picture, context, layout.right, spec.right_head_cols, spec.heads_are_kv, spec.bar_head);
    draw_bars(picture, context, layout.result, spec.result_head_cols, spec.heads_are_kv, spec.bar_head);
    draw_bars(picture, context, layout.left, spec.left_head_cols, false, spec.bar_head);
    draw_row_labels(picture, context, layout.left, spec.left_keys);
    if (spec.left_token_columns)
        draw_column_labels(picture, context, layout.left, true);
    if (spec.right_token_rows)
        draw_row_labels(picture, context, layout.right, true);
    if (spec.right_row_heads > 0)
        draw_row_heads(picture, context, spec, layout.right);
    draw_text(picture, context, result_x - factor_gap / 2,
              figure::baseline_for(layout.result.area.y + layout.result.area.h / 2, 17), "=",
              figure::Font::ui, 17, context.theme.muted, figure::Align::center);
    if (bias)
        draw_bias(picture, factors, spec, layout.result);
    layout.area = {room.x, room.y, layout.result.area.right() - room.x,
                   layout.result.area.bottom() - room.y + (bias ? bias_height + 12 : 0.0F)};
    return layout;
}

std::function<std::int64_t(std::int64_t, std::int64_t)> column_owner(std::int64_t head_width,
                                                                     std::int64_t shared) {
    return [head_width, shared](std::int64_t, std::int64_t col) { return col / head_width * shared; };
}

} // namespace headscope::app
