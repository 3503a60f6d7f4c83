#include "app/draw/matrix/matrix.h"
#include "app/state/block.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// The part of the block in a grid, in pixels.
std::optional<figure::Rect> shown_part(const MatrixGrid& grid, const Block& block) {
    if (grid.tensor != block.tensor)
        return std::nullopt;
    if (!grid.column_indices.empty()) { // columns that are not consecutive show only the first cell
        const auto place = grid.find(block.first);
        return place ? std::optional(grid.cell(place->first, place->second)) : std::nullopt;
    }
    Index first = block.first;
    std::int64_t rows = 1, cols = 1;
    const auto clip = [&](int grid_axis, std::int64_t grid_extent, std::int64_t& extent) {
        const auto axis = static_cast<std::size_t>(grid_axis);
        const std::int64_t wanted = grid_axis == row_axis(block.tensor)   ? block.rows
                                    : grid_axis == col_axis(block.tensor) ? block.cols
                                                                          : 1;
        const std::int64_t begin = std::max(block.first[axis], grid.origin[axis]);
        const std::int64_t end = std::min(block.first[axis] + wanted, grid.origin[axis] + grid_extent);
        first[axis] = begin;
        extent = end - begin;
    };
    clip(grid.row_axis, grid.rows, rows);
    clip(grid.col_axis, grid.cols, cols);
    const auto place = rows > 0 && cols > 0 ? grid.find(first) : std::nullopt;
    if (!place)
        return std::nullopt;
    const figure::Rect from = grid.cell(place->first, place->second),
                       to = grid.cell(place->first + rows - 1, place->second + cols - 1);
    return figure::Rect{from.x, from.y, to.right() - from.x, to.bottom() - from.y};
}

} // namespace

void draw_selection(Picture& picture, const DrawContext& context) {
    const auto block = selected_block(context.view);
    if (!block)
        return;
    std::vector<figure::Rect> places;
    for (const MatrixGrid& grid : picture.grids)
        if (const auto part =
                grid.outlined && grid.shows_own_values ? shown_part(grid, *block) : std::nullopt)
            places.push_back(*part);
    for (const figure::Rect& part : places) {
        const auto around = [&](float by) {
            return figure::Rect{part.x - by, part.y - by, part.w + 2 * by, part.h + 2 * by};
        };
        picture.scene.add(
            figure::RectItem{.area = around(2.25F), .stroke = context.theme.canvas, .stroke_width = 4.5F});
        picture.scene.add(
            figure::RectItem{.area = around(1.25F), .stroke = context.theme.ink, .stroke_width = 2.5F});
    }
}

} // namespace headscope::app
