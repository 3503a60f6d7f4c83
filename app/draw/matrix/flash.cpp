#include "app/draw/matrix/flash.h"

#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/matrix.h"

#include <cmath>

namespace headscope::app {

bool can_flash(const Shown& before, const Shown& now) {
    return before.trace != nullptr && now.trace != nullptr &&
           before.document->layer() == now.document->layer() &&
           before.document->stack() == now.document->stack() &&
           analysis::why_not_comparable(before.problem(), now.problem()).empty() &&
           !analysis::words_differ(before.problem(), now.problem());
}

void draw_flash(Picture& picture, const DrawContext& context) {
    // While rows are stepped through, they appear one after the other; no further highlight is needed.
    if (context.flash == nullptr || context.showing == Compare::baseline || context.view.row >= 0)
        return;
    const Shown& before = context.flash->before;
    const Shown& now = context.difference() ? context.compare->now() : context.shown;
    const figure::Color colour = figure::with_alpha(
        context.theme.ink, static_cast<std::uint32_t>(std::lround(255 * context.flash->strength)));
    for (const MatrixGrid& grid : picture.grids) {
        if (!grid.outlined || std::min(grid.pitch_x, grid.pitch_y) < texture_below ||
            before.tensor(grid.tensor) == nullptr || now.tensor(grid.tensor) == nullptr)
            continue;
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                const CellAddress cell{grid.tensor, grid.index(row, col)};
                if (before.value(cell) != now.value(cell))
                    picture.scene.add(figure::RectItem{
                        .area = grid.cell(row, col), .stroke = colour, .stroke_width = 1.5F});
            }
    }
}

} // namespace headscope::app
