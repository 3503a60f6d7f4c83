#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The numbers of single cells that a lesson points at, where no cell of the page prints them with two
/// decimals. A tag covers no printed number, no word and no other cell that the lesson points at. Where it
/// finds no place beside its cell it stands outside the matrix, tied to the cell by a line. A masked cell has
/// none.
void draw_cell_tags(Picture& picture, const DrawContext& context);

/// The columns or rows of a grid that a lesson points at, by the place in the grid; empty when it points
/// elsewhere.
struct PointedPart {
    std::int64_t top = 0, bottom = 0, left = 0, right = 0; ///< ends are not included
};
std::optional<PointedPart> pointed_part(const MatrixGrid& grid, const lesson::CellRange& cells);

} // namespace headscope::app
