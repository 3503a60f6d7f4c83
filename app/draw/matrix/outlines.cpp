#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/matrix/cell_tags.h"
#include "app/draw/matrix/matrix.h"
#include "core/attention/graph_of_problem.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

figure::Rect around(const MatrixGrid& grid, std::int64_t row, std::int64_t col, std::int64_t rows,
                    std::int64_t cols) {
    const figure::Rect first = grid.cell(row, col), last = grid.cell(row + rows - 1, col + cols - 1);
    return {first.x, first.y, last.right() - first.x, last.bottom() - first.y};
}

figure::Rect grown(const figure::Rect& area, float by) {
    return {area.x - by, area.y - by, area.w + 2 * by, area.h + 2 * by};
}

figure::Rect united(const figure::Rect& a, const figure::Rect& b) {
    const float x = std::min(a.x, b.x), y = std::min(a.y, b.y);
    return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

/// The outlined area: larger than a narrow cell, row or column, which the outline would fill.
figure::Rect outlined(const figure::Rect& cells, float further) {
    constexpr float narrow = 8;
    return std::min(cells.w, cells.h) < narrow ? grown(cells, further) : cells;
}

void outline_cell(Picture& picture, const Theme& theme, const figure::Rect& given) {
    const figure::Rect cell = outlined(given, 2.25F);
    picture.scene.add(
        figure::RectItem{.area = grown(cell, 2.25F), .stroke = theme.canvas, .stroke_width = 4.5F});
    picture.scene.add(
        figure::RectItem{.area = grown(cell, 1.25F), .stroke = theme.ink, .stroke_width = 2.5F});
}

void outline_run(Picture& picture, const Theme& theme, const figure::Rect& run) {
    picture.scene.add(figure::RectItem{
        .area = grown(outlined(run, 0.75F), 0.75F), .stroke = theme.ink, .stroke_width = 1.5F});
}

/// A dashed frame for lessons, distinct from the frame of a selected cell.
void outline_dashed(Picture& picture, const Theme& theme, const figure::Rect& cells, float width) {
    constexpr float dash = 7, gap = 4;
    // Dashes are centered on the edge; their background extends one pixel further on both sides.
    picture.scene.add(figure::RectItem{
        .area = grown(cells, width / 2 + 1), .stroke = theme.canvas, .stroke_width = width + 2});
    const auto side = [&](figure::Point from, float dx, float dy, float length) {
        // Whole dashes, so that every corner is closed.
        const float count = std::max(std::round((length + gap) / (dash + gap)), 1.0F);
        const float step = (length + gap) / count;
        for (float at = 0; at < length - 0.5F; at += step)
            picture.scene.add(
                figure::LineItem{{from.x + dx * at, from.y + dy * at},
                                 {from.x + dx * (at + step - gap), from.y + dy * (at + step - gap)},
                                 theme.ink,
                                 width});
    };
    side({cells.x, cells.y}, 1, 0, cells.w);
    side({cells.x, cells.bottom()}, 1, 0, cells.w);
    side({cells.x, cells.y}, 0, 1, cells.h);
    side({cells.right(), cells.y}, 0, 1, cells.h);
}

/// Outlines what a lesson points at. The outline shrinks toward it, so that the eye follows; on a small map
/// it is thin.
void outline_pointed(Picture& picture, const DrawContext& context, const figure::Rect& cells, bool small) {
    constexpr float from_away = 28;
    const float away = from_away * (1 - eased(context.view.pointing));
    if (small) {
        outline_dashed(picture, context.theme, grown(cells, 1 + away / 4), 1.5F);
        return;
    }
    // The canvas scrolls to all outlined areas, or if they are too high, to the topmost one.
    constexpr float around_it = 48;
    const figure::Rect all = picture.pointed_area.w > 0 ? united(picture.pointed_area, cells) : cells;
    if (picture.pointed_area.w == 0 || all.h + around_it <= context.height)
        picture.pointed_area = all;
    else if (cells.y < picture.pointed_area.y)
        picture.pointed_area = cells;
    outline_dashed(picture, context.theme, grown(cells, 1.25F + away), 2.5F);
}

/// The cell of another tensor with the same number: split and concat only move numbers.
std::optional<CellAddress> same_number(const CellAddress& cell, const Shown& shown) {
    const AttentionGraph& attention = shown.attention();
    const Dims& dims = shown.dims();
    const Index& at = cell.at;
    for (const TensorInfo& row : stage_table()) {
        const graph::Op op = attention.op(row.id);
        const bool splits = op == graph::Op::split_heads, joins = op == graph::Op::join_heads;
        if ((!splits && !joins) || attention.first_input(row.id) != cell.tensor)
            continue;
        if (splits && tensor_info(cell.tensor).axes == row.axes)
            return CellAddress{row.id, at};
        if (splits) {
            const std::int64_t width = extent(row.axes[3], dims);
            return CellAddress{row.id, {at[0], at[2] / width, at[1], at[2] % width}};
        }
        return CellAddress{row.id, {at[0], at[2], at[1] * dims.dv + at[3], 0}};
    }
    return std::nullopt;
}

void outline_in(Picture& picture, const DrawContext& context, const MatrixGrid& grid, const CellAddress& cell,
                bool with_lines) {
    if (grid.tensor != cell.tensor)
        return;
    const auto place = grid.find(cell.at);
    if (!place)
        return;
    if (with_lines) {
        outline_run(picture, context.theme, around(grid, place->first, 0, 1, grid.cols));
        outline_run(picture, context.theme, around(grid, 0, place->second, grid.rows, 1));
    }
    outline_cell(picture, context.theme, grid.cell(place->first, place->second));
}

void outline_span(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                  const ReadSpan& span) {
    if (grid.tensor != span.source || (span.axis != grid.row_axis && span.axis != grid.col_axis))
        return;
    // The part of the span in this grid, which may contain only one head's columns.
    const auto axis = static_cast<std::size_t>(span.axis);
    const bool down = span.axis == grid.row_axis;
    const std::int64_t grid_begin = grid.origin[axis], grid_end = grid_begin + (down ? grid.rows : grid.cols);
    const std::int64_t begin = std::max(span.first[axis], grid_begin);
    const std::int64_t end = std::min(span.first[axis] + span.count, grid_end);
    if (begin >= end)
        return;
    Index first = span.first;
    first[axis] = begin;
    const auto place = grid.find(first);
    if (!place)
        return;
    if (span.count == 1) {
        outline_cell(picture, context.theme, grid.cell(place->first, place->second));
        return;
    }
    outline_run(picture, context.theme,
                down ? around(grid, place->first, place->second, end - begin, 1)
                     : around(grid, place->first, place->second, 1, end - begin));
}

/// Returns true if one area is directly below the other, like the lines of a list.
bool adjoin(const figure::Rect& above, const figure::Rect& below) {
    constexpr float hair = 0.5F;
    return std::abs(above.bottom() - below.y) < hair && std::abs(above.x - below.x) < hair &&
           std::abs(above.w - below.w) < hair;
}

/// Outlines the visible parts of some cells in the grids. Adjacent grids with one line each share one
/// outline. Grids that show other numbers in place of the cells' own are outlined only if no grid shows their
/// own.
void outline_cells(Picture& picture, const DrawContext& context, const std::vector<MatrixGrid>& grids,
                   const lesson::CellRange& cells) {
    struct Part {
        figure::Rect area;
        bool small;
    };
    for (const bool actual : {true, false}) {
        std::vector<Part> parts;
        for (const MatrixGrid& grid : grids) {
            const auto part = grid.shows_own_values == actual ? pointed_part(grid, cells) : std::nullopt;
            if (!part)
                continue;
            const figure::Rect area =
                around(grid, part->top, part->left, part->bottom - part->top, part->right - part->left);
            if (!parts.empty() && parts.back().small != grid.outlined && adjoin(parts.back().area, area))
                parts.back().area = united(parts.back().area, area);
            else
                parts.push_back({area, !grid.outlined});
        }
        for (const Part& part : parts)
            outline_pointed(picture, context, part.area, part.small);
        if (!parts.empty())
            return;
    }
}

void outline_all(Picture& picture, const DrawContext& context, std::vector<MatrixGrid> grids) {
    for (const lesson::CellRange& cells : context.view.points)
        outline_cells(picture, context, grids, cells);
    std::erase_if(grids, [](const MatrixGrid& grid) { return !grid.outlined; });
    const auto cell = current_cell(context.shown, context.view);
    // A default cell is not outlined while a lesson points at cells, nor in an exported figure.
    const bool chosen_alone = !context.view.points.empty() || !context.controls;
    if (!cell || (chosen_alone && !context.view.focus()))
        return;
    const Dims& dims = context.dims();
    const auto reads = reads_of(context.shown, *cell);
    const auto twin = same_number(*cell, context.shown);
    for (const MatrixGrid& grid : grids) {
        for (const ReadSpan& span : reads)
            outline_span(picture, context, grid, span);
        if (twin)
            outline_in(picture, context, grid, *twin, false);
        if (cell->tensor == TensorId::output && grid.tensor == TensorId::contributions)
            for (std::int64_t h = 0; h < dims.H; ++h)
                outline_in(picture, context, grid,
                           {TensorId::contributions, {cell->at[0], h, cell->at[1], cell->at[2]}}, false);
    }
    // A selected block has its own outline.
    if (context.view.block_end && cell == context.view.selected)
        return;
    for (const MatrixGrid& grid : grids)
        outline_in(picture, context, grid, *cell, grid.heatmap);
}

} // namespace

void draw_outlines(Picture& picture, const DrawContext& context) {
    outline_all(picture, context, picture.grids); // grids by value: the function removes some
    draw_cell_tags(picture, context);
}

} // namespace headscope::app
