#pragma once

#include "app/state/view_state.h"

#include <string>

namespace headscope::app {

/// A rectangle of one matrix: `rows` x `cols` numbers that start at `first`, along row_axis and col_axis. A
/// bias has one row. The axes before these two (batch, head) keep their index in `first`.
struct Block {
    TensorId tensor = TensorId::x;
    Index first{};
    std::int64_t rows = 1, cols = 1;
    bool operator==(const Block&) const = default;

    std::int64_t count() const { return rows * cols; }
    /// Returns the address of one of its numbers.
    Index at(std::int64_t row, std::int64_t col) const;
    bool contains(const CellAddress& cell) const;
};

/// The axes of a tensor that run vertically (-1 for a bias and for the biases of experts) and horizontally.
/// These are the last but one and the last axis. For W_in and W_gate, whose columns are units, and for
/// W_router, whose columns are experts, the two are swapped.
int row_axis(TensorId tensor);
int col_axis(TensorId tensor);

/// Returns the whole matrix that contains a cell; for an embedding or unembedding table, the row of the cell.
Block matrix_of(const CellAddress& cell, const Dims& dims);
/// Returns the block with these two cells in opposite corners. Both cells must belong to the same tensor.
Block block_between(const CellAddress& a, const CellAddress& b);
/// Returns the selected block; nothing if no cell is selected.
std::optional<Block> selected_block(const ViewState& view);
/// Returns true if the tensor is an input that the user can change, not a computed result.
bool is_owned(TensorId tensor);
/// Returns true if a single number of the tensor can be set. This includes mlp_act, where the number replaces
/// the computed one.
bool takes_number(TensorId tensor);

/// "W_O[4:8, 0:8]", or "W_O[5, 1]" for one number. A batch of size 1 is omitted.
std::string block_text(const Block& block, const Dims& dims);

} // namespace headscope::app
