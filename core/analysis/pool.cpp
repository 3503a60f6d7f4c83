#include "core/analysis/pool.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::analysis {

CellRun cells_under(std::int64_t at, std::int64_t places, std::int64_t cells) {
    const std::int64_t begin = at * cells / places;
    const std::int64_t end = ((at + 1) * cells + places - 1) / places;
    return {begin, std::max(end, begin + 1)};
}

std::vector<float> max_pool_part(std::span<const float> matrix, std::int64_t stride, const MatrixPart& part,
                                 std::int64_t out_rows, std::int64_t out_cols) {
    if (out_rows < 1 || out_cols < 1 || out_rows > part.rows || out_cols > part.cols)
        throw Error(ErrorKind::internal, "a matrix is pooled to a smaller one");
    constexpr float none = -std::numeric_limits<float>::infinity();
    std::vector<CellRun> across;
    for (std::int64_t c = 0; c < out_cols; ++c)
        across.push_back(cells_under(c, out_cols, part.cols));
    std::vector<float> out(static_cast<std::size_t>(out_rows * out_cols), none);
    std::vector<float> tallest(static_cast<std::size_t>(part.cols));
    for (std::int64_t r = 0; r < out_rows; ++r) {
        const CellRun down = cells_under(r, out_rows, part.rows);
        std::ranges::fill(tallest, none);
        for (std::int64_t i = down.begin; i < down.end; ++i) {
            const float* row = matrix.data() + (part.row + i) * stride + part.col;
            for (std::size_t j = 0; j < tallest.size(); ++j) {
                // An infinity is no number to keep; NaN fails both comparisons.
                const float value = std::abs(row[j]) <= std::numeric_limits<float>::max() ? row[j] : none;
                tallest[j] = std::max(tallest[j], value);
            }
        }
        for (std::int64_t c = 0; c < out_cols; ++c) {
            const CellRun run = across[static_cast<std::size_t>(c)];
            const float largest = *std::max_element(tallest.begin() + run.begin, tallest.begin() + run.end);
            out[static_cast<std::size_t>(r * out_cols + c)] =
                largest == none ? std::numeric_limits<float>::quiet_NaN() : largest;
        }
    }
    return out;
}

std::vector<float> max_pool(std::span<const float> matrix, std::int64_t rows, std::int64_t cols,
                            std::int64_t out_rows, std::int64_t out_cols) {
    return max_pool_part(matrix, cols, {0, 0, rows, cols}, out_rows, out_cols);
}

} // namespace headscope::analysis
