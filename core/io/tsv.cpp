#include "core/io/tsv.h"

#include "core/io/number_text.h"

#include <algorithm>

namespace headscope {

std::string tsv(const Tensor& tensor, const MatrixCells& cells) {
    std::string out;
    const auto row_axis = static_cast<std::size_t>(cells.row_axis),
               col_axis = static_cast<std::size_t>(cells.col_axis);
    for (std::int64_t row = 0; row < cells.rows; ++row) {
        for (std::int64_t col = 0; col < cells.cols; ++col) {
            Index at = cells.origin;
            at[row_axis] += row;
            at[col_axis] += col;
            if (col > 0)
                out += '\t';
            append_number(out, tensor.data()[tensor.shape().offset(at)]);
        }
        out += '\n';
    }
    return out;
}

MatrixCells matrix_around(const Tensor& tensor, const Index& cell) {
    const Shape& shape = tensor.shape();
    const int rank = shape.rank();
    MatrixCells cells{cell, std::max(rank - 2, 0), rank - 1, rank > 1 ? shape[rank - 2] : 1, shape[rank - 1]};
    for (int axis = std::max(rank - 2, 0); axis < rank; ++axis)
        cells.origin[static_cast<std::size_t>(axis)] = 0;
    return cells;
}

std::string tsv(const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    std::string out;
    Index at{};
    while (true) {
        out += tsv(tensor, matrix_around(tensor, at));
        // The next matrix: the axes before the last two, counted like digits.
        int axis = shape.rank() - 3;
        while (axis >= 0 && ++at[static_cast<std::size_t>(axis)] == shape[axis])
            at[static_cast<std::size_t>(axis--)] = 0;
        if (axis < 0)
            return out;
        out += '\n';
    }
}

} // namespace headscope
