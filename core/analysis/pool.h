#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::analysis {

/// A matrix made smaller so that its largest numbers stay: number (r, c) of the result is the largest of
/// every cell of the matrix that its area touches, so that each cell counts in at least one. NaN and
/// infinities are left out; where nothing else is, the result is NaN. (rows, cols) -> (out_rows, out_cols),
/// both row-major; the result is never larger than the matrix in either direction, else Error(internal).
std::vector<float> max_pool(std::span<const float> matrix, std::int64_t rows, std::int64_t cols,
                            std::int64_t out_rows, std::int64_t out_cols);

/// A part of a matrix: rows [row, row + rows), columns [col, col + cols).
struct MatrixPart {
    std::int64_t row = 0, col = 0, rows = 0, cols = 0;
    bool operator==(const MatrixPart&) const = default;
};

/// The same of a part of a matrix that has `stride` columns. `matrix` begins at its first number.
std::vector<float> max_pool_part(std::span<const float> matrix, std::int64_t stride, const MatrixPart& part,
                                 std::int64_t out_rows, std::int64_t out_cols);

/// The cells of [0, cells) that place `at` of `places` touches: from `begin` up to `end`, at least one.
struct CellRun {
    std::int64_t begin = 0, end = 0;
};
CellRun cells_under(std::int64_t at, std::int64_t places, std::int64_t cells);

} // namespace headscope::analysis
