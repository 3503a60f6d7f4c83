#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// Draws the numbers of single cells that a lesson points at, if the view does not print them with two
/// decimals. A tag covers no printed number, no word and no other cell that the lesson points at. If there is
/// no space next to its cell, it is placed outside the matrix with a line to the cell. Masked cells have no
/// tag.
void draw_cell_tags(Picture& picture, const DrawContext& context);

/// The rows and columns of a grid that a lesson points at, as grid indices; empty if it points elsewhere.
struct PointedPart {
    std::int64_t top = 0, bottom = 0, left = 0, right = 0; ///< bottom and right are exclusive
};
std::optional<PointedPart> pointed_part(const MatrixGrid& grid, const lesson::CellRange& cells);

} // namespace headscope::app
