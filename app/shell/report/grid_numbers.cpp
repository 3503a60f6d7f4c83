#include "app/shell/report/grid_numbers.h"

#include "app/shell/report/report_parts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace headscope::app {

namespace {

struct Extreme {
    float value = 0;
    std::int64_t row = -1, col = -1;
};

struct Extremes {
    Extreme low, high;
    std::int64_t not_finite = 0;

    void add(float value, std::int64_t row, std::int64_t col) {
        if (!std::isfinite(value)) {
            ++not_finite;
            return;
        }
        if (low.row < 0 || value < low.value)
            low = {value, row, col};
        if (high.row < 0 || value > high.value)
            high = {value, row, col};
    }
};

/// Returns the numbers of a row of the grid that are in one piece of memory with equal steps; null if they
/// are not.
const float* row_in_memory(const Tensor& numbers, const MatrixGrid& grid, std::int64_t row,
                           std::int64_t& step) {
    const Shape& shape = numbers.shape();
    if (!grid.column_indices.empty() || grid.col_axis >= shape.rank())
        return nullptr;
    step = 1;
    for (int axis = grid.col_axis + 1; axis < shape.rank(); ++axis)
        step *= shape[axis];
    return numbers.data() + shape.offset(grid.index(row, 0));
}

bool has_one_row(TensorId id) {
    return id == TensorId::logits || id == TensorId::probabilities;
}

Extremes extremes_of(const Shown& shown, const MatrixGrid& grid) {
    Extremes found;
    const Tensor* const numbers = has_one_row(grid.tensor) ? nullptr : shown.tensor(grid.tensor);
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        std::int64_t step = 1;
        const float* const values = numbers == nullptr ? nullptr : row_in_memory(*numbers, grid, row, step);
        for (std::int64_t col = 0; col < grid.cols; ++col)
            found.add(values != nullptr ? values[col * step]
                                        : shown.value({grid.tensor, grid.index(row, col)}),
                      row, col);
    }
    return found;
}

} // namespace

/// The extremes of a part of a tensor.
struct GridExtremes::Kept {
    std::weak_ptr<const void> owner; ///< of the tensor's memory
    TensorId tensor{};
    Index origin{};
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> column_indices;
    nlohmann::json found;
};

GridExtremes::GridExtremes() = default;
GridExtremes::~GridExtremes() = default;

nlohmann::json GridExtremes::of(const Shown& shown, const MatrixGrid& grid) {
    const std::shared_ptr<const void> owner = shown.owner(grid.tensor);
    std::erase_if(kept_, [](const Kept& one) { return one.owner.expired(); });
    for (const Kept& one : kept_)
        if (one.owner.lock() == owner && one.tensor == grid.tensor && one.origin == grid.origin &&
            one.rows == grid.rows && one.cols == grid.cols && one.column_indices == grid.column_indices)
            return one.found;
    const Extremes extremes = extremes_of(shown, grid);
    nlohmann::json found = nlohmann::json::object();
    if (extremes.low.row >= 0)
        found = {{"min", number_json(extremes.low.value)},
                 {"min_at", {extremes.low.row, extremes.low.col}},
                 {"max", number_json(extremes.high.value)},
                 {"max_at", {extremes.high.row, extremes.high.col}}};
    if (extremes.not_finite > 0)
        found["not_finite"] = extremes.not_finite;
    constexpr std::size_t most_kept = 256;
    if (kept_.size() >= most_kept)
        kept_.erase(kept_.begin());
    kept_.push_back({owner, grid.tensor, grid.origin, grid.rows, grid.cols, grid.column_indices, found});
    return found;
}

bool knows_cells(const Shown& shown, const MatrixGrid& grid) {
    if (grid.rows < 1 || grid.cols < 1)
        return false;
    // Between its corners, a grid of one tensor has no other cells.
    return shown.is_known({grid.tensor, grid.index(0, 0)}) &&
           shown.is_known({grid.tensor, grid.index(grid.rows - 1, grid.cols - 1)});
}

nlohmann::json number_json(float value) {
    if (!std::isfinite(value))
        return nullptr;
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    double shortest = 0;
    std::from_chars(std::begin(text), end, shortest);
    return shortest;
}

} // namespace headscope::app
