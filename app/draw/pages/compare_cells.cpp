#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

MatrixSpec difference_spec(const DrawContext& context, MatrixSpec spec) {
    if (!context.difference())
        return spec;
    spec.fill = CellFill::diverging;
    spec.plus_sign = true;
    spec.head_contribution = {};
    spec.row_maxima.reset();
    spec.high = context.compare->limit(context.view.group);
    if (spec.value) {
        float largest = 0;
        for (std::int64_t row = 0; row < spec.rows; ++row)
            for (std::int64_t col = 0; col < spec.cols; ++col)
                if (const float value = spec.value(row, col); std::isfinite(value))
                    largest = std::max(largest, std::abs(value));
        spec.high = symmetric_end(largest);
    }
    if (spec.high < 0.1F)
        spec.decimals = spec.high >= 0.01F ? 3 : 4;
    // A weight that is masked in B but not in A has changed too, so its number is shown.
    if (spec.forbidden)
        spec.forbidden = [forbidden = std::move(spec.forbidden), value = spec.value, &context,
                          origin = spec.origin, id = spec.tensor, down = spec.row_axis,
                          across = spec.col_axis](std::int64_t row, std::int64_t col) {
            Index at = origin;
            at[static_cast<std::size_t>(down)] += row;
            at[static_cast<std::size_t>(across)] += col;
            return (value ? value(row, col) : context.shown.value({id, at})) == 0 && forbidden(row, col);
        };
    return spec;
}

bool marked_as_edited(const DrawContext& context, TensorId id, const Index& at) {
    if (id == TensorId::mlp_act)
        return context.shown.block != nullptr && context.shown.block->is_set(id, at);
    if (id != TensorId::x && (is_stage(id) || is_block_stage(id)))
        return false;
    const Document& document = *context.shown.document;
    const Tensor* const b = context.shown.tensor(id);
    const bool compared =
        context.showing == Compare::now && context.compare != nullptr && context.compare->comparable();
    if (is_block_weight(id)) {
        const float now = context.shown.value({id, at});
        if (!compared)
            return context.shown.block->own_value(id, at) != now;
        const Shown& baseline = context.compare->baseline();
        return baseline.tensor(id) != nullptr && baseline.value({id, at}) != now;
    }
    if (!compared)
        return document.recipe.edits.contains(id) && is_edited(document, id, b->shape().offset(at));
    const Tensor* const a = context.compare->baseline().tensor(id);
    if (a == b || a == nullptr || b == nullptr)
        return false;
    const std::int64_t offset = b->shape().offset(at);
    return a->data()[offset] != b->data()[offset];
}

void draw_masked_on_one_side(Picture& picture, const DrawContext& context, const figure::Rect& cell,
                             float change) {
    const Theme& theme = context.theme;
    const bool in_a = change > 0;
    picture.scene.add(figure::RectItem{.area = cell, .fill = theme.panel, .stroke = theme.muted});
    picture.scene.add(figure::LineItem{{cell.x, cell.y}, {cell.right(), cell.bottom()}, theme.line2, 1});
    constexpr float size = 12;
    if (cell.w >= 18 && cell.h >= 16)
        draw_text(picture, context, cell.x + cell.w / 2, figure::baseline_for(cell.y + cell.h / 2, size),
                  in_a ? "A" : "B", figure::Font::mono_semibold, size, theme.ink, figure::Align::center);
    picture.tips.push_back({cell, in_a ? tr("compare_cells.masked", "Masked in A only")
                                       : tr("compare_cells.masked_b", "Masked in B only")});
}

std::string difference_name(const DrawContext& context, const std::string& name) {
    return context.difference() ? tr("compare_cells.b", "{}, B − A", name) : name;
}

std::string changed_text(const DrawContext& context, TensorId input, const std::string& otherwise) {
    if ((is_stage(input) && input != TensorId::x) || context.showing != Compare::now ||
        context.compare == nullptr)
        return otherwise;
    const analysis::TensorDifference* change = context.compare->of(input);
    if (change == nullptr || change->changed == 0)
        return otherwise;
    return tr_n("compare_cells.cell_changed", "{} cell changed", "{} cells changed", change->changed,
                grouped(change->changed));
}

} // namespace headscope::app
