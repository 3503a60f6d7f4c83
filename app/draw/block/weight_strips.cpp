#include "app/draw/block/weight_strips.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/edit_marks.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float strip_height = 20, strip_pitch = 25, strip_label_width = 124, bias_width = 68,
                widest_cell = 42;

class Strips {
public:
    Strips(Picture& p, const DrawContext& c, const std::vector<WeightStrip>& drawn)
        : picture(p), context(c), strips(drawn), D(length_of(c, drawn)) {
        const bool biases =
            std::ranges::any_of(strips, [](const WeightStrip& s) { return s.bias.has_value(); });
        const float room =
            context.width - 2 * canvas_pad - strip_label_width - (biases ? bias_width + 30 : 0.0F);
        const float each = room / static_cast<float>(D);
        cell_w = std::clamp(each < 12 ? std::floor(each) : each, 1.0F, widest_cell);
        float largest = 0;
        for (const WeightStrip& strip : strips)
            for (std::int64_t d = 0; d < D; ++d)
                largest = std::max(largest, std::abs(context.shown.value({strip.tensor, at(strip, d)})));
        high = symmetric_end(largest);
    }

    float draw(float y) {
        for (const WeightStrip& strip : strips) {
            draw_strip(strip, y);
            y += strip_pitch;
        }
        draw_legend(picture, context, canvas_pad + strip_label_width, y + 2, 160, context.theme.diverging,
                    -high, high,
                    tr("weight_strips.weight_one_cell_each", "weight, one cell for each dimension"), false);
        return y + 44;
    }

private:
    /// Numbers in each strip: D, or the width of narrower embeddings.
    static std::int64_t length_of(const DrawContext& context, const std::vector<WeightStrip>& strips) {
        if (strips.empty())
            return context.dims().D;
        const WeightStrip& first = strips.front();
        return tensor_info(first.tensor).shape(context.dims())[first.axis];
    }
    static Index at(const WeightStrip& strip, std::int64_t d) {
        Index place = strip.origin;
        place[static_cast<std::size_t>(strip.axis)] = d;
        return place;
    }

    void draw_strip(const WeightStrip& strip, float y) {
        const int last = tensor_info(strip.tensor).rank() - 1;
        const int other = last == 0 ? 3 : strip.axis == last ? last - 1 : last;
        const MatrixGrid grid = draw_matrix(picture, context,
                                            {.tensor = strip.tensor,
                                             .origin = strip.origin,
                                             .row_axis = other,
                                             .col_axis = strip.axis,
                                             .rows = 1,
                                             .cols = D,
                                             .x = canvas_pad + strip_label_width,
                                             .y = y,
                                             .cell_w = cell_w,
                                             .cell_h = strip_height,
                                             .fill = CellFill::diverging,
                                             .high = high});
        picture.scene.add(figure::RectItem{.area = grid.area, .stroke = context.theme.line2});
        name(strip.name, y);
        if (std::min(cell_w, strip_height) < texture_below) // larger cells mark themselves
            for (std::int64_t d = 0; d < D; ++d)
                if (marked_as_edited(context, strip.tensor, at(strip, d))) {
                    const figure::Rect cell = grid.cell(0, d);
                    draw_edited_diamond(picture, context, {cell.x + cell.w / 2, y - 2}, 5);
                }
        float right = grid.area.right();
        if (strip.bias) {
            const float x = right + 16;
            draw_text(picture, context, x, figure::baseline_for(y + strip_height / 2, 12.5F), "+",
                      figure::Font::mono, 12.5F, context.theme.muted);
            // Of experts, the first index says of which.
            const int bias_axis = tensor_info(*strip.bias).rank() - 1;
            Index place{};
            place[0] = strip.origin[0];
            place[static_cast<std::size_t>(bias_axis)] = strip.origin[static_cast<std::size_t>(other)];
            draw_matrix(picture, context,
                        {.tensor = *strip.bias,
                         .origin = place,
                         .row_axis = 3,
                         .col_axis = bias_axis,
                         .rows = 1,
                         .cols = 1,
                         .x = x + 14,
                         .y = y,
                         .cell_w = bias_width - 6,
                         .cell_h = strip_height,
                         .fill = CellFill::diverging,
                         .high = high,
                         .decimals = 3});
            picture.tips.push_back({{x, y, bias_width + 8, strip_height},
                                    std::string(tensor_info(*strip.bias).symbol) + "[" +
                                        std::to_string(place[static_cast<std::size_t>(bias_axis)]) + "]"});
            right = x + 14 + bias_width;
        }
        picture.scene.width = std::max(picture.scene.width, right + canvas_pad);
    }

    void name(const std::string& text, float y) {
        draw_text(picture, context, canvas_pad + strip_label_width - 12,
                  figure::baseline_for(y + strip_height / 2, 12.5F), text, figure::Font::mono_semibold, 12.5F,
                  context.theme.ink, figure::Align::right);
    }

    Picture& picture;
    const DrawContext& context;
    const std::vector<WeightStrip>& strips;
    const std::int64_t D;
    float cell_w = 1, high = 1;
};

float draw_heading(Picture& picture, const DrawContext& context, const std::string& title,
                   const std::string& says, float y) {
    draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
    y += 26;
    const float wide =
        draw_text(picture, context, canvas_pad, y, title, figure::Font::ui_semibold, 15, context.theme.ink);
    const float room = context.width - 2 * canvas_pad - wide - 12;
    draw_text(picture, context, canvas_pad + wide + 12, y,
              fitted(context, says, figure::Font::ui, 12.5F, room), figure::Font::ui, 12.5F,
              context.theme.muted);
    return y + 12;
}

} // namespace

float draw_weight_strips(Picture& picture, const DrawContext& context, const std::string& title,
                         const std::string& says, const std::vector<WeightStrip>& strips, float y) {
    y = draw_heading(picture, context, title, says, y);
    return Strips(picture, context, strips).draw(y);
}

float weight_strips_height(std::size_t count) {
    return 38 + static_cast<float>(count) * strip_pitch + 44;
}

} // namespace headscope::app
