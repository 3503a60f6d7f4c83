#include "app/commands/actions.h"
#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/figure_weights.h"
#include "app/draw/pages/pages.h"
#include "core/analysis/pool.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float map_top = 150.0F; ///< top of the map, below the column labels
constexpr float map_foot = 88.0F; ///< space for the legend and the buttons below it
constexpr float map_label_width = 76.0F;
constexpr std::int64_t most_cells_whole = 64; ///< larger maps are drawn from a cached image

/// The visible cells and their area. `pitch`: pixels from one cell to the next, below 1 for pooled maps.
struct Window {
    analysis::MatrixPart part;
    figure::Rect area;
    float pitch_x = 1, pitch_y = 1;
};

/// The number of cells of an axis that the zoom asks for.
std::int64_t cells_wanted(float zoom, std::int64_t cells) {
    return std::clamp<std::int64_t>(std::lround(static_cast<float>(cells) / zoom), 1, cells);
}

/// Fits as many cells as possible on an axis, and sets the first one.
void fill_axis(float middle, float room, float pitch, std::int64_t cells, std::int64_t& begin,
               std::int64_t& count) {
    const auto fitting = static_cast<std::int64_t>(room / pitch);
    count = std::min(std::max(count, fitting), cells);
    begin = std::clamp<std::int64_t>(
        std::lround(middle * static_cast<float>(cells) - static_cast<float>(count) / 2), 0, cells - count);
}

Window window_of(const DrawContext& context) {
    const Dims& dims = context.dims();
    const MapWindow& map = context.view.attention.map;
    Window out;
    analysis::MatrixPart& part = out.part;
    part.rows = cells_wanted(map.zoom, dims.Tq);
    part.cols = cells_wanted(map.zoom, dims.Tk);
    const float left = canvas_pad + map_label_width; // longer labels are shortened in the middle
    const float width = std::max(context.width - left - canvas_pad, 120.0F),
                height = std::max(context.height - map_top - map_foot, 120.0F);
    float pitch = std::min(width / static_cast<float>(part.cols), height / static_cast<float>(part.rows));
    if (pitch >= 1)
        pitch = std::min(std::floor(pitch), 78.0F); // whole pixels, so that all cells have one size
    // Cells are square but the canvas is not: the longer side shows more of the map.
    fill_axis(map.y, height, pitch, dims.Tq, part.row, part.rows);
    fill_axis(map.x, width, pitch, dims.Tk, part.col, part.cols);
    const auto rows = static_cast<float>(part.rows), cols = static_cast<float>(part.cols);
    out.area = {left, map_top, std::floor(pitch * cols), std::floor(pitch * rows)};
    out.area.w = std::max(out.area.w, 1.0F);
    out.area.h = std::max(out.area.h, 1.0F);
    out.pitch_x = out.area.w / cols;
    out.pitch_y = out.area.h / rows;
    return out;
}

/// The largest number under each pixel; for a difference, the number with the largest magnitude.
std::vector<float> pooled(const FigureWeights& reading, const analysis::MatrixPart& part, std::int64_t rows,
                          std::int64_t cols) {
    const std::int64_t Tk = reading.context().dims().Tk;
    const auto pool = [&](std::span<const float> whole) {
        return analysis::max_pool_part(whole, Tk, part, rows, cols);
    };
    if (reading.kind() != HeadsView::difference)
        return pool(reading.stored_weights());
    const DrawContext& context = reading.context();
    const auto left = FigureWeights(context, HeadsView::each, reading.head()).stored_weights(),
               right = FigureWeights(context, HeadsView::each, context.view.compared_head).stored_weights();
    std::vector<float> numbers(left.size());
    std::ranges::transform(left, right, numbers.begin(), std::minus<>());
    std::vector<float> out = pool(numbers);
    std::ranges::transform(numbers, numbers.begin(), std::negate<>());
    const std::vector<float> low = pool(numbers);
    for (std::size_t n = 0; n < out.size(); ++n)
        out[n] = low[n] > out[n] ? -low[n] : out[n];
    return out;
}

/// Returns true if all cells under a pixel are masked.
bool all_masked(const FigureWeights& reading, const analysis::MatrixPart& part, const analysis::CellRun& down,
                const analysis::CellRun& across) {
    // In a causal head the later keys are masked. Testing two corners is enough: the earliest key in the last
    // and the first row.
    return reading.masked(part.row + down.end - 1, part.col + across.begin) &&
           reading.masked(part.row + down.begin, part.col + across.begin);
}

std::vector<figure::Color> paint(const FigureWeights& reading, const analysis::MatrixPart& part,
                                 std::int64_t rows, std::int64_t cols, float end) {
    const Theme& theme = reading.context().theme;
    const std::vector<float> values = pooled(reading, part, rows, cols);
    std::vector<figure::Color> pixels(values.size());
    // A pattern of squares of several pixels would look like weights.
    const bool even = rows >= part.rows && cols >= part.cols;
    for (std::int64_t r = 0; r < rows; ++r) {
        const analysis::CellRun down = analysis::cells_under(r, rows, part.rows);
        for (std::int64_t c = 0; c < cols; ++c) {
            const auto n = static_cast<std::size_t>(r * cols + c);
            const bool nothing = !std::isfinite(values[n]) ||
                                 (values[n] == 0 &&
                                  all_masked(reading, part, down, analysis::cells_under(c, cols, part.cols)));
            pixels[n] = !nothing                   ? reading.cell_color(values[n], end)
                        : even || (r + c) % 4 == 0 ? theme.line
                                                   : theme.panel;
        }
    }
    return pixels;
}

std::uint64_t key_for(const DrawContext& context, const Window& window, float end) {
    const ViewState& view = context.view;
    const analysis::MatrixPart& part = window.part;
    const bool known = facts_of(context, view.head) != nullptr;
    const auto bits = [](auto number) { return static_cast<std::uint64_t>(number); };
    return key_of({bits(reinterpret_cast<std::uintptr_t>(context.shown.trace.get())),
                   context.shown.document->revision, bits(context.shown.document->layer()), bits(view.head),
                   bits(view.compared_head), bits(view.heads_view), bits(view.colour_map),
                   bits(context.theme.dark), bits(known), bits(context.log_colours()), bits(part.row),
                   bits(part.col), bits(part.rows), bits(part.cols), bits(window.area.w), bits(window.area.h),
                   bits(end * 1e6F)});
}

/// The value of the ramp's last color. A difference is always centered on 0.
float end_of_scale(const DrawContext& context, const FigureWeights& reading) {
    if (reading.kind() == HeadsView::each && !context.view.same_scale)
        if (const analysis::HeadFacts* facts = facts_of(context, reading.head()))
            return std::max(facts->largest, 1e-6F);
    return 1;
}

/// Draws the labels that fit, and always the label in focus, in bold.
void draw_axis(Picture& picture, const DrawContext& context, const Window& window, bool keys,
               std::int64_t focused) {
    const Problem& problem = context.shown.problem();
    const analysis::MatrixPart& part = window.part;
    const std::int64_t first = keys ? part.col : part.row, count = keys ? part.cols : part.rows;
    const float pitch = keys ? window.pitch_x : window.pitch_y;
    const auto every = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(16.0F / pitch)));
    const auto label = [&](std::int64_t n, bool bold) {
        const std::string full = keys ? problem.key_label(n) : problem.query_label(n);
        const float at = (static_cast<float>(n - first) + 0.5F) * pitch;
        const figure::Point point =
            keys ? figure::Point{window.area.x + at + 4, window.area.y - 8}
                 : figure::Point{window.area.x - 10, figure::baseline_for(window.area.y + at, 12)};
        add_text(picture.scene, point, shortened(full, 10),
                 bold ? figure::Font::ui_semibold : figure::Font::ui, 12,
                 bold ? context.theme.ink : context.theme.text,
                 keys ? figure::Align::left : figure::Align::right, keys ? -60.0F : 0.0F);
    };
    for (std::int64_t n = first; n < first + count; n += every)
        if (focused < 0 || std::abs(n - focused) >= every)
            label(n, false);
    if (focused >= first && focused < first + count)
        label(focused, true);
}

void draw_zoom_buttons(Picture& picture, const DrawContext& context, const Window& window) {
    const float zoom = context.view.attention.map.zoom;
    float x = canvas_pad;
    const float y = context.height - 36;
    const auto button = [&](const std::string& label, const Action& action, const std::string& tip) {
        x += draw_text_button(picture, context, x, y, label, false, action, tip) + 6;
    };
    button("+", ZoomMap{2},
           tr("large_map.show_smaller_part_larger", "Show a smaller part, larger ({}, or Ctrl and the wheel)",
              key_hint("enlarge map")));
    button("−", ZoomMap{0.5F}, tr("large_map.show_larger_part_smaller", "Show a larger part, smaller (−)"));
    if (zoom > 1)
        button(tr("common.whole_map", "Whole map"), WholeMap{},
               with_key(tr("common.show_all", "Show all of it"), "whole map"));
    const analysis::MatrixPart& part = window.part;
    const std::string text = zoom > 1 ? tr("common.queries_keys", "queries {} to {}, keys {} to {}", part.row,
                                           part.row + part.rows - 1, part.col, part.col + part.cols - 1)
                             : window.pitch_x < 1
                                 ? tr("large_map.each_pixel_shows_largest",
                                      "each pixel shows the largest of the {} × {} weights under it",
                                      static_cast<int>(std::ceil(1 / window.pitch_y)),
                                      static_cast<int>(std::ceil(1 / window.pitch_x)))
                                 : "";
    draw_text(picture, context, x + 6, y + 16.5F, text, figure::Font::ui, 12.5F, context.theme.muted);
}

MatrixSpec spec_of(const FigureWeights& reading, const Window& window, float end) {
    const analysis::MatrixPart& part = window.part;
    const CellAddress first = reading.address(part.row, part.col);
    const bool mean = reading.kind() == HeadsView::mean, difference = reading.kind() == HeadsView::difference;
    MatrixSpec spec{.tensor = first.tensor,
                    .origin = first.at,
                    .row_axis = mean ? 1 : 2,
                    .col_axis = mean ? 2 : 3,
                    .rows = part.rows,
                    .cols = part.cols,
                    .x = window.area.x,
                    .y = window.area.y,
                    .cell_w = window.pitch_x,
                    .cell_h = window.pitch_y,
                    .fill = difference ? CellFill::diverging : CellFill::heat,
                    .ramp = &reading.ramp(),
                    .log = reading.log_colours(),
                    .high = end};
    spec.plus_sign = difference;
    if (difference)
        spec.value = [reading, part](std::int64_t i, std::int64_t j) {
            return reading.at(part.row + i, part.col + j);
        };
    spec.forbidden = [reading, part](std::int64_t i, std::int64_t j) {
        return reading.masked(part.row + i, part.col + j);
    };
    return spec;
}

void draw_cells(Picture& picture, const DrawContext& context, const FigureWeights& reading,
                const Window& window, float end) {
    if (std::min(window.pitch_x, window.pitch_y) >= texture_below) {
        draw_matrix(picture, context, spec_of(reading, window, end));
        return;
    }
    const std::int64_t rows = std::min(window.part.rows, static_cast<std::int64_t>(window.area.h));
    const std::int64_t cols = std::min(window.part.cols, static_cast<std::int64_t>(window.area.w));
    const std::uint64_t key = key_for(context, window, end);
    const auto make = [&] { return paint(reading, window.part, rows, cols, end); };
    picture.scene.add(
        figure::GridItem{.area = window.area,
                         .cols = static_cast<int>(cols),
                         .rows = static_cast<int>(rows),
                         .pixels = context.pixels != nullptr
                                       ? context.pixels->find_owned(context.shown.trace, key, make).pixels
                                       : std::make_shared<const std::vector<figure::Color>>(make()),
                         .key = key});
    const MatrixSpec spec = spec_of(reading, window, end);
    picture.grids.push_back({.tensor = spec.tensor,
                             .origin = spec.origin,
                             .row_axis = spec.row_axis,
                             .col_axis = spec.col_axis,
                             .rows = spec.rows,
                             .cols = spec.cols,
                             .area = window.area,
                             .pitch_x = window.pitch_x,
                             .pitch_y = window.pitch_y,
                             .heatmap = true,
                             .map = name_of(reading.ramp(), context.theme),
                             .low = spec.fill == CellFill::diverging ? -end
                                    : spec.log                       ? log_scale_low(end)
                                                                     : 0,
                             .high = end,
                             .shows_own_values = !spec.value});
    picture.scene.add(
        figure::RectItem{.area = {window.area.x - 1, window.area.y - 1, window.area.w + 2, window.area.h + 2},
                         .stroke = context.theme.line2});
}

} // namespace

bool wants_large_map(const DrawContext& context) {
    return std::max(context.dims().Tq, context.dims().Tk) > most_cells_whole;
}

std::optional<CellAddress> large_map_cell_at(const DrawContext& context, const MatrixGrid& grid, float x,
                                             float y) {
    if (!grid.area.contains(x, y))
        return std::nullopt;
    if (grid.pitch_x >= 1 && grid.pitch_y >= 1)
        return grid.at(x, y);
    const FigureWeights reading = focused_figure_weights(context);
    const auto run = [](float offset, float length, std::int64_t cells) {
        const auto places = std::min(static_cast<std::int64_t>(length), cells);
        const auto place = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(offset / length * static_cast<float>(places)), 0, places - 1);
        return analysis::cells_under(place, places, cells);
    };
    const analysis::CellRun down = run(y - grid.area.y, grid.area.h, grid.rows),
                            across = run(x - grid.area.x, grid.area.w, grid.cols);
    const auto row_axis = static_cast<std::size_t>(grid.row_axis),
               col_axis = static_cast<std::size_t>(grid.col_axis);
    const std::int64_t row = grid.origin[row_axis], col = grid.origin[col_axis];
    std::int64_t best_i = row + down.begin, best_j = col + across.begin;
    for (std::int64_t i = row + down.begin; i < row + down.end; ++i)
        for (std::int64_t j = col + across.begin; j < col + across.end; ++j)
            if (std::abs(reading.at(i, j)) > std::abs(reading.at(best_i, best_j))) {
                best_i = i;
                best_j = j;
            }
    return reading.address(best_i, best_j);
}

Picture draw_large_map_page(const DrawContext& context) {
    Picture picture = empty_view(context);
    draw_weights_head(picture, context, head_page_title(context), head_page_line(context), false);
    const FigureWeights reading = focused_figure_weights(context);
    const Window window = window_of(context);
    const float end = end_of_scale(context, reading);
    const FocusedCell focused = focused_cell(context);
    draw_cells(picture, context, reading, window, end);
    draw_axis(picture, context, window, false, focused.row);
    draw_axis(picture, context, window, true, focused.key);
    const bool difference = reading.kind() == HeadsView::difference;
    const analysis::HeadFacts* facts = facts_of(context, context.view.head);
    draw_zoom_buttons(picture, context, window);
    const bool log = reading.log_colours();
    draw_legend(picture, context, window.area.x, context.height - 76, log ? 180 : 120, reading.ramp(),
                difference ? -end : 0, end,
                difference ? tr("common.difference", "difference")
                : log      ? tr("common.weight_log_scale", "weight, log scale")
                           : tr("common.weight", "weight"),
                facts != nullptr && (facts->causal || facts->not_finite > 0), log);
    return picture;
}

} // namespace headscope::app
