#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/matrix/rotation.h"
#include "app/draw/pages/pages.h"
#include "app/state/model_document.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"
#include "core/graph/operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace headscope::app {

namespace {

constexpr float half_top = 118.0F, half_arrow_room = 116.0F, dial_height = 178.0F, factor_height = 22.0F;

/// Queries, keys or values of one head: columns of the joined matrix, and the matrices computed from them.
struct Half {
    std::vector<TensorId> steps; ///< steps_to
    std::int64_t head;           ///< head index in the steps after the first
    std::int64_t owner;          ///< the query head whose color the blocks have
    std::int64_t width;          ///< numbers in one head
    std::int64_t rows;           ///< Tq, or Tk for keys and values
};

/// The step whose largest number fills a bar: split and rotation keep the lengths of rows.
TensorId measure_of(const DrawContext& context, const Half& half, std::size_t step) {
    const auto keeps = [&](TensorId id) {
        const graph::Op op = context.shown.attention().op(id);
        return op == graph::Op::split_heads || op == graph::Op::rotate;
    };
    while (step > 0 && keeps(half.steps[step]))
        --step;
    return half.steps[step];
}

MatrixSpec spec_of(const DrawContext& context, const Half& half, std::size_t step) {
    const std::int64_t b = context.view.batch, first = half.head * half.width;
    const bool after = step > 0;
    return {.tensor = half.steps[step],
            .origin = after ? Index{b, half.head, 0, 0} : Index{b, 0, first, 0},
            .row_axis = after ? 2 : 1,
            .col_axis = after ? 3 : 2,
            .rows = half.rows,
            .cols = half.width,
            .high = largest_magnitude(context, measure_of(context, half, step), b),
            .owner = [owner = half.owner](std::int64_t, std::int64_t) { return owner; }};
}

/// Draws the parameter that a step multiplies every row by, as a row above the step's matrix; for a parameter
/// with values for all heads, only the head's part.
void draw_factor(Picture& picture, const DrawContext& context, TensorId factor, const Half& half,
                 const MatrixGrid& grid, float cell_w) {
    const bool of_all = head_axis(tensor_info(factor), context.dims()).axis >= 0;
    const std::int64_t first = of_all ? half.head * half.width : 0;
    MatrixSpec spec{.tensor = factor,
                    .origin = {first, 0, 0, 0},
                    .row_axis = 1,
                    .col_axis = 0,
                    .rows = 1,
                    .cols = half.width,
                    .x = grid.area.x,
                    .y = grid.area.y - 12 - factor_height,
                    .cell_w = cell_w,
                    .cell_h = factor_height,
                    .high = largest_magnitude(context, factor, 0)};
    draw_matrix(picture, context, spec);
    draw_text(
        picture, context, spec.x, spec.y - 8,
        "× " + std::string(tensor_info(factor).name) +
            (of_all ? "[" + std::to_string(first) + ":" + std::to_string(first + half.width) + "]" : ""),
        figure::Font::mono, 12.5F, context.theme.muted);
}

/// The parameter that a step multiplies its rows by, if there is one.
std::optional<TensorId> factor_of(const DrawContext& context, TensorId step) {
    for (const TensorId input : context.shown.attention().inputs(step))
        if (is_editable(input) && tensor_info(input).rank() == 1 && context.shown.tensor(input) != nullptr)
            return input;
    return std::nullopt;
}

/// Draws the steps side by side. Returns the lower edge.
float draw_half(Picture& picture, const DrawContext& context, const Half& half, float left, float y,
                float cell_w, float cell_h) {
    const Theme& theme = context.theme;
    const float width = cell_w * static_cast<float>(half.width),
                height = cell_h * static_cast<float>(half.rows);
    float x = left;
    for (std::size_t step = 0; step < half.steps.size(); ++step) {
        MatrixSpec spec = spec_of(context, half, step);
        spec.x = x;
        spec.y = y;
        spec.cell_w = cell_w;
        spec.cell_h = cell_h;
        const MatrixGrid grid = draw_matrix(picture, context, spec);
        const std::string name(tensor_info(spec.tensor).name);
        const std::string text = step > 0 ? name + "[" + std::to_string(half.head) + "]"
                                          : name + "[:, " + std::to_string(half.head * half.width) + ":" +
                                                std::to_string((half.head + 1) * half.width) + "]";
        const auto factor = step > 0 ? factor_of(context, spec.tensor) : std::nullopt;
        draw_text(picture, context, x, y - 12 - (factor ? factor_height + 28 : 0), text, figure::Font::mono,
                  13, theme.ink);
        if (factor)
            draw_factor(picture, context, *factor, half, grid, cell_w);
        if (step == 0)
            draw_row_labels(picture, context, grid, tensor_info(spec.tensor).axes[1] == Axis::Tk);
        if (step + 1 < half.steps.size()) {
            draw_arrow(picture, context, x + width + 18, y + height / 2, half_arrow_room - 40,
                       graph::operation(context.shown.attention().op(half.steps[step + 1])).verb());
            x += width + half_arrow_room;
        }
    }
    return y + height;
}

/// Draws one rotation pair of a token as an arrow, before and after the rotation.
void draw_dial(Picture& picture, const DrawContext& context, const CellAddress& cell, float x, float y,
               float radius, double largest) {
    const Theme& theme = context.theme;
    const Shown& shown = context.shown;
    const RotatedNumber turn = rotated_number(shown, cell);
    const figure::Point center{x + radius, y + radius};
    figure::PolygonItem disc;
    for (int i = 0; i < 48; ++i) {
        const float angle = 6.2831853F * static_cast<float>(i) / 48;
        disc.points.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
    }
    disc.fill = theme.panel;
    picture.scene.add(std::move(disc));
    picture.scene.add(figure::LineItem{{x, center.y}, {x + 2 * radius, center.y}, theme.line2, 1});
    picture.scene.add(figure::LineItem{{center.x, y}, {center.x, y + 2 * radius}, theme.line2, 1});
    const auto end = [&](float across, float up) {
        const auto scale = static_cast<float>(static_cast<double>(radius - 3) / largest);
        return figure::Point{center.x + across * scale, center.y - up * scale};
    };
    CellAddress other = cell;
    other.at[3] = rotary_partner(cell.at[3], context.dims().dk);
    picture.scene.add(
        figure::LineItem{center, end(shown.value(turn.own), shown.value(turn.partner)), theme.muted, 1.5F});
    picture.scene.add(figure::LineItem{center, end(shown.value(cell), shown.value(other)), theme.ink, 3});
    const std::string pair = std::to_string(cell.at[3]) + ", " + std::to_string(other.at[3]);
    draw_text(picture, context, center.x, y + 2 * radius + 18, pair, figure::Font::mono, 12.5F, theme.ink,
              figure::Align::center);
    draw_text(picture, context, center.x, y + 2 * radius + 36,
              number(turn.angle, turn.angle < 10 ? 1 : 0) + "°", figure::Font::mono, 12.5F, theme.muted,
              figure::Align::center);
    picture.tips.push_back({{x, y, 2 * radius, 2 * radius + 40},
                            tr("head_split_page.numbers_head_one_arrow",
                               "Numbers {} of the head, as one arrow: before {}, {}; after {}, {}", pair,
                               number(static_cast<double>(shown.value(turn.own)), 3),
                               number(static_cast<double>(shown.value(turn.partner)), 3),
                               number(static_cast<double>(shown.value(cell)), 3),
                               number(static_cast<double>(shown.value(other)), 3))});
}

/// Draws the first pairs of the queries, for the focused token.
void draw_dials(Picture& picture, const DrawContext& context, const Half& half, float left, float y,
                float width) {
    const Dims& dims = context.dims();
    const Theme& theme = context.theme;
    const auto current = current_cell(context.shown, context.view);
    std::int64_t row = half.rows - 1;
    if (current && std::ranges::find(half.steps, current->tensor) != half.steps.end())
        row = std::min(current->at[current->tensor == half.steps.front() ? 1 : 2], row);
    const bool keys = half.steps.back() == TensorId::k_heads;
    const Problem& problem = context.shown.problem();
    const std::int64_t pairs = dims.dk / 2;
    constexpr float radius = 42, gap = 22;
    const auto fits = static_cast<std::int64_t>((width + gap) / (2 * radius + gap));
    const std::int64_t count = std::clamp<std::int64_t>(fits, 1, pairs);
    const std::string word = shortened(keys ? key_word(problem, row) : query_word(problem, row), 16);
    draw_text(picture, context, left, y + 14,
              keys ? tr("head_split_page.key_position", "Key of {}, position {}", word, row)
                   : tr("head_split_page.query_position", "Query of {}, position {}", word, row),
              figure::Font::ui_semibold, 15, theme.ink);
    CellAddress cell{half.steps.back(), {context.view.batch, half.head, row, 0}};
    double largest = 1e-6;
    std::vector<std::int64_t> places;
    for (std::int64_t n = 0; n < count; ++n)
        places.push_back(count == pairs || count < 2 ? n : n * (pairs - 1) / (count - 1));
    for (const std::int64_t place : places) {
        cell.at[3] = place;
        const RotatedNumber turn = rotated_number(context.shown, cell);
        largest = std::max(largest, std::hypot(static_cast<double>(context.shown.value(turn.own)),
                                               static_cast<double>(context.shown.value(turn.partner))));
    }
    float x = left;
    for (const std::int64_t place : places) {
        cell.at[3] = place;
        draw_dial(picture, context, cell, x, y + 28, radius, largest);
        x += 2 * radius + gap;
    }
    draw_paragraph(picture, context, left, y + 28 + 2 * radius + 62, width,
                   tr("head_split_page.thin_pair_before_thick",
                      "Thin: before the rotation, thick: after. The angle is the position times the pair’s "
                      "own speed; the length stays."),
                   figure::Font::ui, 13, 19, theme.muted);
}

} // namespace

Picture draw_head_split_page(const DrawContext& context, float controls) {
    Picture picture;
    const Dims& dims = context.dims();
    const std::int64_t h = context.view.head, g = dims.kv_head(h);
    const bool rotary = context.shown.problem().rotary.has_value();
    const std::string name = context.shown.document->has_head_grid()
                                 ? open_head_name(*context.shown.document, h)
                                 : tr("common.head_3", "head {}", h);
    const AttentionGraph& attention = context.shown.attention();
    draw_view_heading(picture, context,
                      rotary ? tr("head_split_page.rotation", "Rotation: {}", name)
                             : tr("head_split_page.split", "Split: {}", name),
                      rotary
                          ? tr("head_split_page.pair_b_cos_b", "pair (a, b) → (a·cos − b·sin, b·cos + a·sin)")
                          : attention.formula(TensorId::q_heads),
                      controls);
    std::vector<Half> halves{{attention.steps_to(TensorId::q_heads), h, h, dims.dk, dims.Tq},
                             {attention.steps_to(TensorId::k_heads), g, h, dims.dk, dims.Tk}};
    if (!rotary)
        halves.push_back({attention.steps_to(TensorId::v_heads), g, h, dims.dv, dims.Tk});
    const auto factors = [&](const Half& half) {
        return std::ranges::any_of(std::span(half.steps).subspan(1),
                                   [&](TensorId step) { return factor_of(context, step).has_value(); });
    };
    const float above = std::ranges::any_of(halves, factors) ? factor_height + 28 : 0;
    const auto count = static_cast<float>(halves.size());
    const auto most = static_cast<float>(halves.front().steps.size());
    const float left = canvas_pad + row_label_width(context, false);
    const auto widest = static_cast<float>(std::max(dims.dk, dims.dv));
    const float room_w = context.width - left - canvas_pad - (most - 1) * half_arrow_room;
    const float cell_w = std::clamp(std::floor(room_w / (most * widest)), 2.0F, 40.0F);
    const float room_h =
        (context.height - half_top - (rotary ? dial_height + 20 : 0) - (44 + above) * count - 20) / count;
    const float cell_h =
        std::clamp(std::floor(room_h / static_cast<float>(std::max(dims.Tq, dims.Tk))), 2.0F, 28.0F);
    float y = half_top + 10;
    for (const Half& half : halves)
        y = draw_half(picture, context, half, left, y + above, cell_w, cell_h) + 44;
    y -= 44;
    if (picture.grids.back().heatmap) {
        const float limit = picture.grids.back().high;
        draw_legend(picture, context, left, y + 14, 160, context.theme.diverging, -limit, limit,
                    context.difference() ? "B − A" : tr("common.value", "value"), false);
        y += 44;
    }
    if (rotary) {
        const auto current = current_cell(context.shown, context.view);
        const bool of_keys =
            current && std::ranges::find(halves[1].steps, current->tensor) != halves[1].steps.end();
        draw_dials(picture, context, halves[of_keys ? 1 : 0], canvas_pad, y + 16,
                   context.width - 2 * canvas_pad);
        y += dial_height + 16;
    }
    picture.scene.width =
        std::max(context.width, left + most * cell_w * widest + (most - 1) * half_arrow_room + canvas_pad);
    picture.scene.height = std::max(context.height, y + 20);
    return picture;
}

} // namespace headscope::app
