#include "app/draw/block/row_blocks.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float name_height = 24, block_gap = 8, blocks_legend_height = 62;
constexpr float length_width = 132; ///< of the bars and numbers at the right
constexpr float highest_row = 26, lowest_row = 10, lowest_of_many = 3;
constexpr float with_number = 13; ///< rows with room for the number of their length
constexpr float few_rows = 16;    ///< keep those numbers in a low room too: the page scrolls
constexpr float lengths_gap = 16;

/// Bars of the rows' lengths, with numbers where they fit.
void draw_lengths(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                  const std::vector<float>& lengths, float longest) {
    const Theme& theme = context.theme;
    constexpr float number_room = 46, gap = lengths_gap;
    const float left = grid.area.right() + gap, room = length_width - gap - number_room;
    const bool numbers = grid.pitch_y >= with_number;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const figure::Rect cell = grid.cell(static_cast<std::int64_t>(i), 0);
        const float middle = cell.y + cell.h / 2, thick = std::min(8.0F, cell.h);
        const bool on = static_cast<std::int64_t>(i) == row_around(context);
        picture.scene.add(figure::RectItem{
            .area = {left, middle - thick / 2, room * lengths[i] / std::max(longest, 1e-6F), thick},
            .fill = on ? theme.ink : theme.muted});
        if (numbers)
            draw_text(picture, context, left + length_width - gap, figure::baseline_for(middle, 12),
                      number(static_cast<double>(lengths[i]), 1),
                      on ? figure::Font::mono_semibold : figure::Font::mono, 12, on ? theme.ink : theme.text,
                      figure::Align::right);
    }
}

/// What draw_name wants.
float named_width(const DrawContext& context, const RowBlock& block) {
    return context.measure(std::string(tensor_info(block.tensor).name), figure::Font::mono_semibold, 15) +
           12 + context.measure(block.what, figure::Font::ui, 12.5F);
}

/// The head over the bars of lengths, in one word at their right end where a name ends at `named` and so
/// needs the room. Returns where the name has to end.
float draw_lengths_head(Picture& picture, const DrawContext& context, float left, float right, float baseline,
                        float named) {
    constexpr float apart = 8, size = 12;
    const auto wide = [&](const std::string& text) { return context.measure(text, figure::Font::ui, size); };
    const std::string whole = tr("row_blocks.length_row", "length of the row"),
                      brief = tr("row_blocks.length", "length");
    const figure::Color colour = context.theme.muted;
    if (named + apart > left) {
        draw_text(picture, context, right, baseline, brief, figure::Font::ui, size, colour,
                  figure::Align::right);
        return right - wide(brief) - apart;
    }
    draw_text(picture, context, left, baseline, wide(whole) <= right - left ? whole : brief, figure::Font::ui,
              size, colour);
    return left - apart;
}

/// The block's name and what it is, which end before `right`.
void draw_name(Picture& picture, const DrawContext& context, const RowBlock& block, float x, float right,
               float baseline) {
    const Theme& theme = context.theme;
    if (!block.sign.empty())
        draw_text(picture, context, x - 18, baseline, block.sign, figure::Font::mono_semibold, 15, theme.ink);
    const float name = draw_text(picture, context, x, baseline, std::string(tensor_info(block.tensor).name),
                                 figure::Font::mono_semibold, 15, theme.ink);
    x += name + 12;
    const std::string what = fitted(context, block.what, figure::Font::ui, 12.5F, right - x);
    draw_text(picture, context, x, baseline, what, figure::Font::ui, 12.5F, theme.muted);
    if (what != block.what)
        picture.tips.push_back({{x, baseline - 13, right - x, 18}, block.what});
}

} // namespace

float draw_row_blocks(Picture& picture, const DrawContext& context, const std::vector<RowBlock>& blocks,
                      float y, float height) {
    // Embeddings may be narrower than what enters the first layer.
    const auto width_of = [&](const RowBlock& block) {
        return context.shown.tensor(block.tensor)->shape().back(0);
    };
    const std::int64_t width = width_of(*std::ranges::max_element(blocks, {}, width_of));
    const auto T = static_cast<float>(context.dims().Tq), D = static_cast<float>(width);
    const float labels = row_label_width(context, false) + 12;
    const float room = context.width - 2 * canvas_pad - labels - length_width;
    const auto count = static_cast<float>(blocks.size());
    const float cell_w = std::clamp(room / D, 1.0F, 42.0F);
    const float per_pixel = cell_w < 12 ? std::floor(cell_w) : cell_w;
    const float cell_h =
        std::clamp(std::floor(((height - blocks_legend_height) / count - name_height - block_gap) / T),
                   T <= few_rows ? with_number
                   : T <= 32     ? lowest_row
                                 : lowest_of_many,
                   highest_row);
    std::vector<TensorId> tensors;
    float longest = 0;
    for (const RowBlock& block : blocks) {
        tensors.push_back(block.tensor);
        for (const float length : checkpoint::row_lengths(*context.shown.tensor(block.tensor)))
            longest = std::max(longest, length);
    }
    const float high = colour_end(context, tensors), x = canvas_pad + labels;
    for (const RowBlock& block : blocks) {
        y += name_height;
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = block.tensor,
                                             .row_axis = 1,
                                             .col_axis = 2,
                                             .rows = context.dims().Tq,
                                             .cols = width_of(block),
                                             .x = x,
                                             .y = y,
                                             .cell_w = std::max(per_pixel, 1.0F),
                                             .cell_h = cell_h,
                                             .high = high});
        const float lengths = grid.area.right() + lengths_gap, end = lengths + length_width - lengths_gap;
        draw_name(picture, context, block, x,
                  &block == &blocks.front() ? draw_lengths_head(picture, context, lengths, end, y - 8,
                                                                x + named_width(context, block))
                                            : end,
                  y - 9);
        draw_row_choice(picture, context, grid);
        draw_lengths(picture, context, grid, checkpoint::row_lengths(*context.shown.tensor(block.tensor)),
                     longest);
        picture.scene.width = std::max(picture.scene.width, grid.area.right() + length_width + canvas_pad);
        y = grid.area.bottom() + block_gap;
    }
    const MatrixGrid& last = picture.grids.back();
    if (last.heatmap)
        draw_legend(picture, context, x, y, 160, context.theme.diverging, last.low, last.high,
                    context.difference()
                        ? "B − A"
                        : tr("common.value_beyond_ends_full", "value, beyond the ends full color"),
                    false);
    else if (std::min(last.pitch_x, last.pitch_y) >= smallest_with_bar)
        draw_paragraph(picture, context, x, y + 12, std::max(last.area.w, 320.0F),
                       tr("common.bar_under_number_shows",
                          "The bar under a number shows its size and, left or right of the tick, its sign."),
                       figure::Font::ui, 12.5F, 18, context.theme.muted);
    return y + blocks_legend_height - 14;
}

} // namespace headscope::app
