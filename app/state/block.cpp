#include "app/state/block.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// A matrix whose columns belong to MLP units or to experts is shown transposed, one unit after the other.
bool is_read_by_columns(const TensorInfo& info) {
    if (info.rank() < 2)
        return false;
    const auto last = static_cast<std::size_t>(info.rank() - 1);
    return info.axes[last - 1] == Axis::D &&
           (info.axes[last] == Axis::d_ff || info.axes[last] == Axis::d_expert ||
            info.axes[last] == Axis::experts);
}

} // namespace

int row_axis(TensorId tensor) {
    const TensorInfo& info = tensor_info(tensor);
    if (info.rank() == 2 && info.axes[0] == Axis::experts)
        return -1; // one bias per expert
    return is_read_by_columns(info) ? info.rank() - 1 : info.rank() - 2;
}

int col_axis(TensorId tensor) {
    const TensorInfo& info = tensor_info(tensor);
    return is_read_by_columns(info) ? info.rank() - 2 : info.rank() - 1;
}

bool is_owned(TensorId tensor) {
    return is_editable(tensor) || is_block_weight(tensor);
}

bool takes_number(TensorId tensor) {
    return is_owned(tensor) || tensor == TensorId::mlp_act;
}

Index Block::at(std::int64_t row, std::int64_t col) const {
    Index out = first;
    if (row_axis(tensor) >= 0)
        out[static_cast<std::size_t>(row_axis(tensor))] += row;
    out[static_cast<std::size_t>(col_axis(tensor))] += col;
    return out;
}

bool Block::contains(const CellAddress& cell) const {
    if (cell.tensor != tensor)
        return false;
    for (int axis = 0; axis < tensor_info(tensor).rank(); ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        const std::int64_t extent = axis == row_axis(tensor) ? rows : axis == col_axis(tensor) ? cols : 1;
        if (cell.at[i] < first[i] || cell.at[i] >= first[i] + extent)
            return false;
    }
    return true;
}

Block matrix_of(const CellAddress& cell, const Dims& dims) {
    const Shape shape = tensor_info(cell.tensor).shape(dims);
    Block block{.tensor = cell.tensor, .first = cell.at, .rows = 1, .cols = shape[col_axis(cell.tensor)]};
    // Rows of a table are edited individually.
    if (const int axis = row_axis(cell.tensor); axis > 0 || (axis == 0 && !is_table(cell.tensor))) {
        block.rows = shape[axis];
        block.first[static_cast<std::size_t>(axis)] = 0;
    }
    block.first[static_cast<std::size_t>(col_axis(cell.tensor))] = 0;
    return block;
}

Block block_between(const CellAddress& a, const CellAddress& b) {
    Block block{.tensor = a.tensor, .first = a.at, .rows = 1, .cols = 1};
    const auto span = [&](int axis, std::int64_t& extent) {
        if (axis < 0)
            return;
        const auto i = static_cast<std::size_t>(axis);
        const auto [low, high] = std::minmax(a.at[i], b.at[i]);
        block.first[i] = low;
        extent = high - low + 1;
    };
    span(row_axis(a.tensor), block.rows);
    span(col_axis(a.tensor), block.cols);
    return block;
}

std::optional<Block> selected_block(const ViewState& view) {
    if (!view.selected)
        return std::nullopt;
    const bool block = view.block_end && view.block_end->tensor == view.selected->tensor;
    return block_between(*view.selected, block ? *view.block_end : *view.selected);
}

std::string block_text(const Block& block, const Dims& dims) {
    const TensorInfo& info = tensor_info(block.tensor);
    std::string inner;
    for (int axis = 0; axis < info.rank(); ++axis) {
        if (info.axes[static_cast<std::size_t>(axis)] == Axis::B && dims.B == 1)
            continue;
        const std::int64_t begin = block.first[static_cast<std::size_t>(axis)];
        const std::int64_t extent = axis == row_axis(block.tensor)   ? block.rows
                                    : axis == col_axis(block.tensor) ? block.cols
                                                                     : 1;
        const bool range =
            block.count() > 1 && (axis == row_axis(block.tensor) || axis == col_axis(block.tensor));
        inner += (inner.empty() ? "" : ", ") + std::to_string(begin) +
                 (range ? ":" + std::to_string(begin + extent) : "");
    }
    return std::string(info.name) + "[" + inner + "]";
}

} // namespace headscope::app
