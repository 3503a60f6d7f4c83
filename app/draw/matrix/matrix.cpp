#include "app/draw/matrix/matrix.h"

#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sign_mark.h"
#include "app/draw/matrix/matrix_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace headscope::app {

namespace {

constexpr float digit_width = 0.6F; ///< width of a monospaced digit, in ems
constexpr float smallest_text = 12.0F;
constexpr float number_margin = 2.0F;
constexpr float heat_margin = 3.0F;   ///< between cells with similar colors; a sign separates them too
constexpr float edited_corner = 9.0F; ///< size of the mark of an edited cell

/// The printed form of a matrix's numbers: all of them, or none if the widest does not fit.
struct CellNumbers {
    int decimals = -1;
    float size = 0;
    bool shown() const { return decimals >= 0; }
};

std::string cell_text(const MatrixSpec& spec, float value, int decimals) {
    if ((spec.plus_sign || spec.zero_as_dot) && value == 0)
        return "·";
    return spec.plus_sign ? signed_number(value, decimals) : number(value, decimals);
}

bool with_bars(const MatrixSpec& spec) {
    return spec.fill == CellFill::owned && std::min(spec.cell_w, spec.cell_h) >= smallest_with_bar;
}

CellNumbers fit_numbers(const MatrixSpec& spec, const std::vector<float>& values, bool wanted) {
    if (!wanted || spec.cell_h < lowest_with_numbers || spec.cell_w < 24.0F)
        return {};
    // Keep enough decimals that small changes are not printed as zeros.
    const auto wide_number = [](float value) { return std::isfinite(value) && std::abs(value) >= 100.0F; };
    const int fewest = !spec.plus_sign && (spec.high >= 100.0F ||
                                           (spec.row_maxima && std::ranges::any_of(values, wide_number)))
                           ? 0 // large scores have three digits anyway
                       : !spec.plus_sign || spec.high >= 0.1F ? 1
                       : spec.high >= 0.01F                   ? 2
                                                              : 3;
    // The frame of a selected cell and the bar leave little height for the number.
    const bool wide = spec.cell_w >= 60.0F, low = with_bars(spec) && spec.cell_h < 30.0F;
    for (int decimals = spec.decimals; decimals >= fewest; --decimals) {
        int widest = 0;
        for (const float value : values)
            if (std::isfinite(value))
                widest = std::max(widest, columns(cell_text(spec, value, decimals)));
        const float margin = spec.fill == CellFill::owned || spec.plus_sign ? number_margin : heat_margin;
        const float room =
            (spec.cell_w - 2 * margin) / (digit_width * static_cast<float>(std::max(widest, 1)));
        if (room >= smallest_text - 0.01F)
            return {decimals, std::min(room, wide && !low ? 15.0F : 12.5F)};
    }
    return {};
}

figure::Color fill_of(const MatrixSpec& spec, const DrawContext& context, std::int64_t row, std::int64_t col,
                      float value) {
    const Theme& theme = context.theme;
    if (spec.fill == CellFill::heat) {
        const float top = spec.row_maxima ? (*spec.row_maxima)[static_cast<std::size_t>(row)] : 0;
        return ramp_color(*spec.ramp, position_on_scale(value - top, spec.low, spec.high, spec.log));
    }
    if (spec.fill == CellFill::diverging)
        return ramp_color(theme.diverging, 0.5F + 0.5F * value / std::max(spec.high, 1e-30F));
    const std::int64_t head = spec.owner ? spec.owner(row, col) : -1;
    return head < 0 || context.shown.problem().gain(head) == 0.0F ? theme.cell
                                                                  : theme.head(head, context.dims().H).tint;
}

/// Draws a bar from a tick at the center of the cell: its length shows the magnitude, its direction the sign.
void draw_value_bar(Picture& picture, const DrawContext& context, const MatrixSpec& spec,
                    const figure::Rect& cell, std::int64_t row, std::int64_t col, float value) {
    const float middle = cell.x + cell.w / 2;
    const float y = cell.bottom() - 6.0F;
    const float unit = (cell.w / 2 - 3.0F) / std::max(spec.high, 1e-30F);
    const auto piece = [&](float from, float to, std::int64_t head) {
        const figure::Color color =
            head < 0 ? context.theme.muted : context.theme.head(head, context.dims().H).colour;
        const float left = middle + std::clamp(std::min(from, to) * unit, -cell.w / 2, cell.w / 2);
        float right = middle + std::clamp(std::max(from, to) * unit, -cell.w / 2, cell.w / 2);
        if (spec.head_contribution && right - left > 3) // a gap between the segments of heads
            --right;
        picture.scene.add(figure::RectItem{.area = {left, y, right - left, 3.0F}, .fill = color});
    };
    if (spec.head_contribution) {
        float positive = 0, negative = 0;
        for (std::int64_t h = 0; h < context.dims().H; ++h) {
            const float part = spec.head_contribution(row, col, h);
            float& end = part < 0 ? negative : positive;
            piece(end, end + part, h);
            end += part;
        }
    } else {
        piece(0, value, spec.owner ? spec.owner(row, col) : -1);
    }
    picture.scene.add(
        figure::RectItem{.area = {middle - 0.5F, y - 1.0F, 1.0F, 5.0F}, .fill = context.theme.muted});
}

std::vector<float> values_of(const DrawContext& context, const MatrixSpec& spec) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(spec.rows * spec.cols));
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            Index at = spec.origin;
            at[static_cast<std::size_t>(spec.row_axis)] += row;
            if (spec.column_indices.empty())
                at[static_cast<std::size_t>(spec.col_axis)] += col;
            else
                at[static_cast<std::size_t>(spec.col_axis)] =
                    spec.column_indices[static_cast<std::size_t>(col)];
            values.push_back(spec.value ? spec.value(row, col) : context.shown.value({spec.tensor, at}));
        }
    return values;
}

bool is_masked(const MatrixSpec& spec, std::int64_t row, std::int64_t col, float value) {
    return !std::isfinite(value) || (spec.forbidden && spec.forbidden(row, col));
}

} // namespace

void draw_hatched(Picture& picture, const Theme& theme, const figure::Rect& area) {
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
    picture.scene.add(figure::LineItem{{area.x, area.bottom()}, {area.right(), area.y}, theme.line2, 1});
}

float least_row_height(float rows) {
    constexpr float few = 48, some = 150, with_number = 22, least = 3;
    return rows <= few ? with_number : rows <= some ? lowest_with_name : least;
}

MatrixGrid draw_matrix(Picture& picture, const DrawContext& context, const MatrixSpec& given) {
    constexpr std::uint32_t veil = 150; // of 255
    MatrixSpec spec = difference_spec(context, given);
    const bool image = std::min(spec.cell_w, spec.cell_h) < texture_below;
    bool bars = with_bars(spec);
    const std::vector<float> values = image ? std::vector<float>{} : values_of(context, spec);
    const CellNumbers numbers = image ? CellNumbers{} : fit_numbers(spec, values, context.view.numbers);
    // Without a number, color shows magnitude and sign better than a narrow bar, unless it names the head.
    const bool wide_bars = bars && (spec.owner || spec.head_contribution || spec.cell_w >= readable_cell);
    if (spec.fill == CellFill::owned && !wide_bars && !numbers.shown()) {
        spec.fill = CellFill::diverging;
        bars = false;
    }
    MatrixGrid grid{.tensor = spec.tensor,
                    .origin = spec.origin,
                    .row_axis = spec.row_axis,
                    .col_axis = spec.col_axis,
                    .rows = spec.rows,
                    .cols = spec.cols,
                    .column_indices = spec.column_indices,
                    .area = {spec.x, spec.y, spec.cell_w * static_cast<float>(spec.cols),
                             spec.cell_h * static_cast<float>(spec.rows)},
                    .pitch_x = spec.cell_w,
                    .pitch_y = spec.cell_h,
                    .gap = image                                                  ? 0.0F
                           : spec.fill != CellFill::owned && spec.cell_w >= 40.0F ? 2.0F
                                                                                  : 1.0F,
                    .heatmap = spec.fill != CellFill::owned,
                    .map = spec.fill == CellFill::diverging ? "diverging"
                           : spec.ramp != nullptr           ? name_of(*spec.ramp, context.theme)
                                                            : "head",
                    .low = spec.fill == CellFill::diverging ? -spec.high
                           : spec.log                       ? log_scale_low(spec.high)
                                                            : spec.low,
                    .high = spec.high,
                    .relative_to_row_max = spec.row_maxima != nullptr && spec.fill == CellFill::heat,
                    .shows_own_values = !spec.value && context.showing == Compare::now};

    const std::int64_t done = spec.rows_stepped < 0 ? spec.rows : spec.rows_stepped;
    // Dims the rows that are not stepped through yet.
    const auto dim_rest = [&] {
        const float top = spec.y + spec.cell_h * static_cast<float>(done);
        if (done < spec.rows)
            picture.scene.add(figure::RectItem{.area = {spec.x, top, grid.area.w, grid.area.bottom() - top},
                                               .fill = figure::with_alpha(context.theme.canvas, veil)});
    };
    if (image) {
        draw_matrix_image(picture, context, spec, grid.area);
        dim_rest();
        picture.grids.push_back(grid);
        return grid;
    }
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            const float value = values[static_cast<std::size_t>(row * spec.cols + col)];
            const figure::Rect cell = grid.cell(row, col);
            if (context.difference() && std::isinf(value)) {
                draw_masked_on_one_side(picture, context, cell, value);
                continue;
            }
            if (is_masked(spec, row, col, value)) {
                draw_hatched(picture, context.theme, cell);
                continue;
            }
            const figure::Color fill = fill_of(spec, context, row, col, value);
            picture.scene.add(figure::RectItem{.area = cell, .fill = fill});
            if (numbers.shown()) {
                const float center = cell.y + cell.h / 2 - (bars ? 3.0F : 0.0F);
                const figure::Color ink = spec.fill == CellFill::owned ? context.theme.ink : text_on(fill);
                add_text(picture.scene, {cell.x + cell.w / 2, figure::baseline_for(center, numbers.size)},
                         cell_text(spec, value, numbers.decimals), figure::Font::mono, numbers.size, ink,
                         figure::Align::center);
            } else if (spec.fill == CellFill::diverging)
                draw_minus_mark(picture, cell, static_cast<double>(value / std::max(spec.high, 1e-30F)),
                                fill);
            if (!spec.value && !context.difference() &&
                marked_as_edited(context, spec.tensor, grid.index(row, col)))
                picture.scene.add(figure::PolygonItem{{{cell.right() - edited_corner, cell.y},
                                                       {cell.right(), cell.y},
                                                       {cell.right(), cell.y + edited_corner}},
                                                      context.theme.ink});
            if (bars)
                draw_value_bar(picture, context, spec, cell, row, col, value);
        }
    dim_rest();
    picture.grids.push_back(grid);
    return grid;
}

float two_decimals_cell(float low, float high, bool plus) {
    constexpr int decimals = 2;
    const auto wide = [&](float value) {
        return columns(plus ? signed_number(value, decimals) : number(value, decimals));
    };
    return std::ceil(static_cast<float>(std::max(wide(low), wide(high))) * digit_width * smallest_text +
                     2 * (plus ? number_margin : heat_margin));
}

namespace {

CellNumbers numbers_of(const DrawContext& context, const MatrixSpec& given) {
    const MatrixSpec spec = difference_spec(context, given);
    if (std::min(spec.cell_w, spec.cell_h) < texture_below)
        return {}; // avoids reading the numbers of a wide matrix
    return fit_numbers(spec, values_of(context, spec), context.view.numbers);
}

} // namespace

bool prints_numbers(const DrawContext& context, const MatrixSpec& spec) {
    return numbers_of(context, spec).shown();
}

int decimals_shown(const DrawContext& context, const MatrixSpec& spec) {
    return std::max(numbers_of(context, spec).decimals, 0);
}

float largest_magnitude(const Shown& shown, TensorId id, std::int64_t batch, PixelCache* kept) {
    const Tensor& tensor = *shown.tensor(id);
    const auto compute = [&] {
        auto values = tensor.values();
        if (is_table(id)) // too many rows to search: use the first ones
            values = values.first(static_cast<std::size_t>(std::min<std::int64_t>(tensor.count(), 1 << 20)));
        if (tensor_info(id).axes[0] == Axis::B) {
            const auto per_entry = values.size() / static_cast<std::size_t>(tensor.shape()[0]);
            values = values.subspan(per_entry * static_cast<std::size_t>(batch), per_entry);
        }
        float largest = 1e-6F;
        for (const float value : values)
            if (std::isfinite(value))
                largest = std::max(largest, std::abs(value));
        return largest;
    };
    if (kept == nullptr)
        return compute();
    // Cached, because wide layers would otherwise be searched in every frame.
    constexpr std::uint64_t kind = 1;
    return *kept->cached_result<float>(
        shown.owner(id),
        key_of({kind, reinterpret_cast<std::uintptr_t>(&tensor), static_cast<std::uint64_t>(batch)}),
        compute);
}

} // namespace headscope::app
