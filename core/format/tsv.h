#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// Which cells of a tensor make a matrix.
struct MatrixCells {
    Index origin{};                 ///< of the first cell
    int row_axis = 0, col_axis = 1; ///< the axes that run down and across; the same one twice for a vector
    std::int64_t rows = 0, cols = 0;
};

/// Numbers as spreadsheets paste them: rows as lines, tabs between columns, a line feed after each row, no
/// headings. Shortest digits that read back as the same float32, with a point in every locale.
std::string tsv(const Tensor& tensor, const MatrixCells& cells);

/// The whole tensor: its last two axes as matrices, one below the other with an empty line between. A tensor
/// of one axis is one row.
std::string tsv(const Tensor& tensor);

/// The matrix that holds the cell: all of the last two axes at the cell's place in the others.
MatrixCells matrix_around(const Tensor& tensor, const Index& cell);

/// A table of numbers, row by row.
struct Table {
    std::int64_t rows = 0, cols = 0;
    std::vector<float> values; ///< rows * cols
};

/// What a spreadsheet copied: tabs between numbers (or, in a text without tabs, commas or semicolons and
/// blanks), a true minus sign or a hyphen. Throws Error(input) naming row and column, counted from 1, of what
/// is no finite number, or the first row of another length; an empty text is refused.
Table parse_tsv(std::string_view text);

} // namespace headscope::format
