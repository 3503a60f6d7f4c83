#pragma once

#include "core/checkpoint/weights/weights.h"
#include "core/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>

namespace headscope::checkpoint {

// Of some weights edits copy only the rows that they change: of tables (rows, D), and of what the experts
// have, (experts, ...), where a row is a matrix or a bias of one expert. headscope::is_table says which.

/// Rows that a user changed, whole, by their number; each has the axes of the table behind the first.
using TableRows = std::map<std::int64_t, TensorPtr>;

/// The shape of a row, the numbers of one, and the number in it that stands at an address of the table.
Shape row_shape(const Shape& table);
std::span<const float> row_of(const Tensor& table, std::int64_t row);
float number_in_row(std::span<const float> row, const Shape& table, Index at);
/// The table with these rows in place of its own; a copy where there are some.
TensorPtr with_rows(const TensorPtr& table, const TableRows& rows);

/// The weights of one layer, or of embedding, final norm and head; null where the model has none. In our
/// convention: matrices (d_in, d_out), tables (rows, D).
struct WeightSet {
    std::array<TensorPtr, named_count> tensors; ///< by TensorId
    std::map<TensorId, TableRows> rows = {};    ///< that edits put in place of those of the tensors
    const TensorPtr& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
    TensorPtr& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
    /// The tensor with its edits, which makes a copy where rows of it were changed; null where the model has
    /// none.
    TensorPtr whole(TensorId id) const;
    /// A row of a table, with its edits; null where the model has no such table.
    TensorPtr row(TensorId table, std::int64_t i) const;
};

} // namespace headscope::checkpoint
