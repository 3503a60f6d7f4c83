#include "app/draw/matrix/flash.h"

#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/matrix.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr std::int64_t most_compared_cells = 4096; ///< of a matrix with small cells

/// Outlines the rows of a matrix with small cells that hold a changed number; the whole matrix if its rows
/// are too low for that.
void flash_rows(Picture& picture, const MatrixGrid& grid, const std::vector<bool>& changed,
                figure::Color color) {
    constexpr float lowest_row = 8;
    const auto frame = [&](const figure::Rect& area) {
        picture.scene.add(figure::RectItem{
            .area = {area.x - 1, area.y - 1, area.w + 2, area.h + 2}, .stroke = color, .stroke_width = 1.5F});
    };
    if (std::ranges::find(changed, true) == changed.end())
        return;
    if (grid.pitch_y < lowest_row)
        return frame(grid.area);
    for (std::int64_t row = 0; row < grid.rows; ++row)
        if (changed[static_cast<std::size_t>(row)])
            frame({grid.area.x, grid.area.y + grid.pitch_y * static_cast<float>(row), grid.area.w,
                   grid.pitch_y});
}

} // namespace

bool can_flash(const Shown& before, const Shown& now) {
    return before.trace != nullptr && now.trace != nullptr &&
           before.document->layer() == now.document->layer() &&
           before.document->stack() == now.document->stack() &&
           analysis::why_not_comparable(before.problem(), now.problem()).empty() &&
           (now.document->is_experiment() || !analysis::words_differ(before.problem(), now.problem()));
}

void draw_flash(Picture& picture, const DrawContext& context) {
    // While rows are stepped through, they appear one after the other; no further highlight is needed.
    if (context.flash == nullptr || context.showing == Compare::baseline || context.view.row >= 0)
        return;
    const Shown& before = context.flash->before;
    const Shown& now = context.difference() ? context.compare->now() : context.shown;
    const figure::Color color = figure::with_alpha(
        context.theme.ink, static_cast<std::uint32_t>(std::lround(255 * eased(context.flash->strength))));
    const std::size_t grids = picture.grids.size();
    for (std::size_t n = 0; n < grids; ++n) {
        const MatrixGrid& grid = picture.grids[n];
        const bool small = std::min(grid.pitch_x, grid.pitch_y) < texture_below;
        if (!grid.outlined || before.tensor(grid.tensor) == nullptr || now.tensor(grid.tensor) == nullptr ||
            (small && grid.rows * grid.cols > most_compared_cells))
            continue;
        std::vector<bool> changed(static_cast<std::size_t>(grid.rows), false);
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                const CellAddress cell{grid.tensor, grid.index(row, col)};
                if (before.value(cell) == now.value(cell))
                    continue;
                changed[static_cast<std::size_t>(row)] = true;
                if (small)
                    break;
                picture.scene.add(
                    figure::RectItem{.area = grid.cell(row, col), .stroke = color, .stroke_width = 1.5F});
            }
        if (small)
            flash_rows(picture, grid, changed, color);
    }
}

} // namespace headscope::app
