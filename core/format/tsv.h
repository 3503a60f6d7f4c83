#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::format {

/// The cells of a tensor that form a matrix.
struct MatrixCells {
    Index origin{};                 ///< index of the first cell
    int row_axis = 0, col_axis = 1; ///< the axes of rows and columns; equal for a vector
    std::int64_t rows = 0, cols = 0;
};

/// A matrix in the format that spreadsheets paste: rows as lines, tabs between columns, a line feed after
/// each row, no headings. Each number has the shortest digits that read back as the same float32, with a
/// decimal point in every locale.
std::string tsv(const Tensor& tensor, const MatrixCells& cells);

/// The whole tensor: its last two axes as matrices, one after another with an empty line in between. A tensor
/// of one axis is one row.
std::string tsv(const Tensor& tensor);

/// The matrix that contains the cell: the last two axes in full, the other axes at the cell's indices.
MatrixCells matrix_around(const Tensor& tensor, const Index& cell);

/// A table of numbers, row by row.
struct Table {
    std::int64_t rows = 0, cols = 0;
    std::vector<float> values; ///< rows * cols
};

/// Parses cells copied from a spreadsheet: tabs between numbers (or, in a text without tabs, commas,
/// semicolons or spaces), a true minus sign or a hyphen. Throws Error(input) with the row and column, counted
/// from 1, of a cell that is not a finite number, or with the first row whose length differs; and for an
/// empty text.
Table parse_tsv(std::string_view text);

} // namespace headscope::format
