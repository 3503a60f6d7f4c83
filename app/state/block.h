#pragma once

#include "app/state/view_state.h"

#include <string>

namespace headscope::app {

/// A rectangle of one matrix: `rows` x `cols` numbers from `first` on, along col_axis and row_axis; a bias
/// has one row. Axes before them (batch, head) stay as in `first`.
struct Block {
    TensorId tensor = TensorId::x;
    Index first{};
    std::int64_t rows = 1, cols = 1;
    bool operator==(const Block&) const = default;

    std::int64_t count() const { return rows * cols; }
    /// The address of one of its numbers.
    Index at(std::int64_t row, std::int64_t col) const;
    bool contains(const CellAddress& cell) const;
};

/// The axes of a tensor that run down (-1 for a bias, and for those of the experts) and across: its last but
/// one and its last, but of W_in and W_gate, whose columns are units, and of W_router, whose columns are
/// experts, these stand one below the other.
int row_axis(TensorId tensor);
int col_axis(TensorId tensor);

/// The whole matrix that a cell lies in; of a table of a checkpoint's ends its row.
Block matrix_of(const CellAddress& cell, const Dims& dims);
/// The block with these two cells in opposite corners. Both are of the same tensor.
Block block_between(const CellAddress& a, const CellAddress& b);
/// What is selected; nothing when no cell is.
std::optional<Block> selected_block(const ViewState& view);
/// Whether it is a number that the user decides.
bool is_owned(TensorId tensor);
/// Whether a single number of it can be set: also of mlp_act, where it stands in place of what the layer
/// computes.
bool takes_number(TensorId tensor);

/// "W_O[4:8, 0:8]", or "W_O[5, 1]" for one number. A batch of one is not written.
std::string block_text(const Block& block, const Dims& dims);

} // namespace headscope::app
