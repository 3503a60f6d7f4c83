#include "app/draw/flow/flow_parts.h"

#include "app/draw/flow/word_field.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/state/screens/flow.h"
#include "app/state/word_place.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float narrowest_number = 29, lowest_number = 17;
constexpr float lowest_divided_row = 6, two_decimals_from = 40;

int row_axis_of(TensorId id) {
    return tensor_info(id).rank() - 2;
}

Index origin_of(const FlowPage& page, const FlowTensor& tensor, std::int64_t first) {
    Index origin{};
    const auto row = static_cast<std::size_t>(row_axis_of(tensor.id));
    if (tensor_info(tensor.id).axes[0] == Axis::B)
        origin[0] = page.batch();
    if (tensor.head >= 0 && row == 2)
        origin[1] = tensor.head;
    origin[row] = first;
    origin[row + 1] = tensor.first_col;
    return origin;
}

MatrixSpec flow_spec(const FlowPage& page, const FlowTensor& tensor, const figure::Rect& area,
                     std::int64_t first, std::int64_t count, float row_height) {
    MatrixSpec spec{.tensor = tensor.id,
                    .origin = origin_of(page, tensor, first),
                    .row_axis = row_axis_of(tensor.id),
                    .col_axis = row_axis_of(tensor.id) + 1,
                    .rows = count,
                    .cols = tensor.cols,
                    .x = area.x,
                    .y = area.y,
                    .cell_w = area.w / static_cast<float>(tensor.cols),
                    .cell_h = row_height,
                    .high = largest_magnitude(page.context, tensor.id, page.batch())};
    spec.decimals = spec.cell_w < two_decimals_from ? 1 : 2;
    if (tensor.owner >= 0 && !page.is_off(tensor.owner))
        spec.owner = [owner = tensor.owner](std::int64_t, std::int64_t) { return owner; };
    return spec;
}

/// Draws magnitudes in the colors of a ramp.
void draw_flow_texture(const FlowPage& page, const FlowTensor& tensor, const MatrixSpec& spec) {
    const Ramp& ramp = tensor.owner < 0 ? page.theme().neutral : page.ramp(tensor.owner);
    std::vector<figure::Color> pixels;
    pixels.reserve(static_cast<std::size_t>(spec.rows * spec.cols));
    Index at = spec.origin;
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            at[static_cast<std::size_t>(spec.row_axis)] =
                spec.origin[static_cast<std::size_t>(spec.row_axis)] + row;
            at[static_cast<std::size_t>(spec.col_axis)] =
                spec.origin[static_cast<std::size_t>(spec.col_axis)] + col;
            const float value = page.context.shown.value({spec.tensor, at}) * tensor.gain;
            // Differences of small numbers are visible too.
            pixels.push_back(ramp_color(ramp, 0.06F + 0.8F * std::sqrt(std::abs(value) / spec.high)));
        }
    const figure::Rect area{spec.x, spec.y, spec.cell_w * static_cast<float>(spec.cols),
                            spec.cell_h * static_cast<float>(spec.rows)};
    const std::uint64_t key = name_of(pixels);
    page.picture.scene.add(
        figure::GridItem{.area = area,
                         .cols = static_cast<int>(spec.cols),
                         .rows = static_cast<int>(spec.rows),
                         .pixels = std::make_shared<const std::vector<figure::Color>>(std::move(pixels)),
                         .key = key});
    for (std::int64_t row = 1; row < spec.rows && spec.cell_h >= lowest_divided_row; ++row)
        page.picture.scene.add(
            figure::RectItem{.area = {area.x, area.y + spec.cell_h * static_cast<float>(row) - 1, area.w, 1},
                             .fill = page.theme().canvas});
    page.picture.grids.push_back({.tensor = spec.tensor,
                                  .origin = spec.origin,
                                  .row_axis = spec.row_axis,
                                  .col_axis = spec.col_axis,
                                  .rows = spec.rows,
                                  .cols = spec.cols,
                                  .area = area,
                                  .pitch_x = spec.cell_w,
                                  .pitch_y = spec.cell_h,
                                  .heatmap = true,
                                  .map = "head",
                                  .high = spec.high});
}

} // namespace

figure::Color with_opacity(figure::Color color, float opacity) {
    return figure::with_alpha(color,
                              static_cast<std::uint32_t>(std::lround(255 * std::clamp(opacity, 0.0F, 1.0F))));
}

bool FlowPage::is_forbidden(std::int64_t h, std::int64_t i, std::int64_t j) const {
    return context.shown.tensor(TensorId::masked) != nullptr && std::isinf(value(TensorId::masked, h, i, j));
}

figure::Color FlowPage::color(std::int64_t h) const {
    return is_off(h) ? theme().line2 : theme().head(h, dims().H).colour;
}

const Ramp& FlowPage::ramp(std::int64_t h) const {
    return is_off(h) ? theme().neutral : theme().heat(h, dims().H, context.view.colour_map);
}

std::string FlowPage::query_word(std::int64_t i, int most) const {
    return shortened(problem().query_label(i), most);
}

std::string FlowPage::key_word(std::int64_t j, int most) const {
    return shortened(problem().key_label(j), most);
}

FlowTensor flow_tensor(const FlowPage& page, TensorId id, std::int64_t head) {
    const TensorInfo& info = tensor_info(id);
    const Shape shape = info.shape(page.dims());
    const bool of_kv = info.rank() == 4 && info.axes[1] == Axis::Hkv;
    return {.id = id,
            .head = of_kv && head >= 0 ? page.dims().kv_head(head) : head,
            .rows = shape[info.rank() - 2],
            .cols = shape[info.rank() - 1],
            .owner = head};
}

void draw_flow_rows(const FlowPage& page, const FlowTensor& tensor, const FlowRows& rows, std::int64_t first,
                    std::int64_t count) {
    constexpr float touching = 0.5F;
    if (rows.area.w <= 0 || count <= 0)
        return;
    const bool spread = rows.pitch > rows.row + touching;
    for (std::int64_t row = first; row < first + count; row += spread ? 1 : count) {
        MatrixSpec spec = flow_spec(page, tensor, rows.at(row), row, spread ? 1 : count, rows.row);
        if (tensor.gain != 1)
            spec.value = [&page, origin = spec.origin, tensor,
                          axis = row_axis_of(tensor.id)](std::int64_t r, std::int64_t c) {
                Index at = origin;
                at[static_cast<std::size_t>(axis)] += r;
                at[static_cast<std::size_t>(axis) + 1] += c;
                return page.context.shown.value({tensor.id, at}) * tensor.gain;
            };
        if (spec.cell_w < narrowest_number || spec.cell_h < lowest_number ||
            (!page.context.difference() && !prints_numbers(page.context, spec))) {
            draw_flow_texture(page, tensor, spec);
            continue;
        }
        if (tensor.id == TensorId::output)
            spec.head_contribution = [&page, row](std::int64_t r, std::int64_t c, std::int64_t h) {
                return page.value(TensorId::contributions, h, row + r, c);
            };
        draw_matrix(page.picture, page.context, spec);
    }
}

void draw_flow_concat(const FlowPage& page, std::int64_t head, std::int64_t first, std::int64_t count) {
    const Dims& dims = page.dims();
    FlowTensor part = flow_tensor(page, TensorId::concat);
    part.first_col = head * dims.dv;
    part.cols = dims.dv;
    part.owner = head;
    FlowRows rows = page.layout.concat;
    rows.area.w /= static_cast<float>(dims.H);
    rows.area.x += rows.area.w * static_cast<float>(head);
    draw_flow_rows(page, part, rows, first, count);
}

void draw_flow_map(const FlowPage& page, std::int64_t head, const FlowRows& rows, std::int64_t first,
                   std::int64_t count) {
    FlowTensor tensor = flow_tensor(page, TensorId::weights, head);
    MatrixSpec spec = flow_spec(page, tensor, rows.at(first), first, count, rows.row);
    spec.fill = CellFill::heat;
    spec.decimals = 2;
    spec.ramp = &page.ramp(head);
    spec.low = 0;
    spec.high = 1;
    spec.forbidden = [&page, head, first](std::int64_t row, std::int64_t col) {
        return page.is_forbidden(head, first + row, col);
    };
    draw_matrix(page.picture, page.context, spec);
}

void draw_flow_key_words(const FlowPage& page, const figure::Rect& map, float baseline) {
    constexpr float size = 12.5F, between = 3;
    const std::int64_t Tk = page.dims().Tk;
    const float cell = map.w / static_cast<float>(Tk);
    float taken = -1e6F; // right end of the last word
    for (std::int64_t j = 0; j < Tk; ++j) {
        const std::string word = page.key_word(j, 8);
        const float wide = page.context.measure(word, figure::Font::ui, size),
                    middle = map.x + cell * (static_cast<float>(j) + 0.5F);
        if (middle - wide / 2 < taken + between)
            continue;
        draw_text(page.picture, page.context, middle, baseline, word, figure::Font::ui, size,
                  page.theme().text, figure::Align::center);
        taken = middle + wide / 2;
    }
}

void frame_flow_part(const FlowPage& page, const figure::Rect& area, float width) {
    const float grow = width / 2;
    page.picture.scene.add(
        figure::RectItem{.area = {area.x - grow, area.y - grow, area.w + 2 * grow, area.h + 2 * grow},
                         .stroke = page.theme().ink,
                         .stroke_width = width});
}

void draw_flow_words(const FlowPage& page) {
    const Theme& theme = page.theme();
    constexpr float lowest_pill = 18, text = 14, smallest_text = 12;
    const auto column = [&](const FlowRows& rows, std::int64_t count, bool keys) {
        const float size = std::clamp(rows.row - 8, smallest_text, text);
        const std::int64_t every = static_cast<std::int64_t>(std::ceil(smallest_text / rows.row));
        for (std::int64_t i = 0; i < count; ++i) {
            const bool focus = !keys && i == page.word;
            if (i % every != 0 && !focus)
                continue;
            const std::string word = fitted(page.context, keys ? page.key_word(i) : page.query_word(i),
                                            figure::Font::ui_medium, size, rows.area.w - 14);
            const figure::Rect row = rows.at(i);
            const float width = page.context.measure(word, figure::Font::ui_medium, size) + 18;
            const figure::Rect pill{row.right() - width, row.y + 2, width, row.h - 4};
            const bool framed = rows.row >= lowest_pill;
            if (framed || focus)
                page.picture.scene.add(
                    figure::RectItem{.area = framed ? pill : figure::Rect{pill.x, row.y - 1, width, 15},
                                     .fill = focus ? theme.ink : theme.raise,
                                     .stroke = focus ? theme.ink : theme.line2,
                                     .radius = 5});
            draw_text(page.picture, page.context, pill.x + width / 2,
                      figure::baseline_for(framed ? row.y + row.h / 2 : row.y + 6, size), word,
                      focus ? figure::Font::ui_semibold : figure::Font::ui_medium, size,
                      focus  ? theme.canvas
                      : keys ? theme.text
                             : theme.ink,
                      figure::Align::center);
            const FlowWord named{i, keys};
            if (!page.context.controls ||
                add_word_field(page.picture, page.context, named, count, framed ? pill : row))
                continue;
            if (!keys)
                add_word_hotspot(page.picture, page.context, pill, "word " + std::to_string(i), named, focus,
                                 FocusFlowWord{i},
                                 tr("flow.put_word_focus", "Put “{}” in focus", page.query_word(i)));
            else if (has_typed_words(*page.context.shown.document))
                add_word_hotspot(page.picture, page.context, pill, "second word " + std::to_string(i), named,
                                 true, EditFlowWord{named}, {});
        }
    };
    column(page.layout.words, page.dims().Tq, false);
    if (page.problem().cross())
        column(page.layout.key_words, page.dims().Tk, true);
}

void draw_flow_caption(const FlowPage& page, float x, float baseline, const std::string& name,
                       const std::string& words, TensorId opens, const std::string& label, float room) {
    constexpr float size = 13, between = 6;
    const float wide = draw_text(page.picture, page.context, x, baseline, name, figure::Font::mono_semibold,
                                 size, page.theme().ink);
    float end = x + wide;
    const float more = page.context.measure(words, figure::Font::ui, size);
    if (!words.empty() && wide + between + more <= room)
        end += between + draw_text(page.picture, page.context, end + between, baseline, words,
                                   figure::Font::ui, size, page.theme().muted);
    if (page.context.controls)
        page.picture.add_hotspot({x - 3, baseline - size, end - x + 6, size + 5}, label, OpenFlowStage{opens},
                                 tr("flow.open_stage", "Open the stage {}",
                                    std::string(group_info(tensor_info(opens).group).label)));
}

} // namespace headscope::app
