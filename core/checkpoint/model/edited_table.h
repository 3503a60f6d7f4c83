#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/engine/cpu/dense.h"

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::checkpoint {

/// A table of a model with the rows that edits changed, see is_table. It shares the numbers of the model and
/// of the edits. Of an encoder, `model` is the encoder's. Any thread may read it.
class EditedTable {
public:
    /// n: the attention, of what the experts behind it have. Without the table, where the model has none.
    /// Throws what Model::weight and Model::layer throw.
    EditedTable(const Model& model, const ModelEdits& edits, TensorId table, std::int64_t n = 0);

    bool exists() const { return own_ != nullptr; }
    /// Without the edits; it must exist for this and the rest.
    const Tensor& own() const { return *own_; }
    const TableRows& changed() const { return changed_; }
    std::int64_t rows() const { return own_->shape()[0]; }
    /// The numbers of a row.
    std::span<const float> row(std::int64_t i) const;
    std::span<const float> own_row(std::int64_t i) const { return row_of(*own_, i); }
    /// A copy where rows were changed.
    TensorPtr whole() const { return with_rows(own_, changed_); }

    /// Of a table (rows, D): x (B, T, D) times its transpose, plus b (rows) where that is not null: (B, T,
    /// rows), as CpuDense::multiply_by_rows makes it of a table that holds the changed rows. Throws
    /// Error(cancelled).
    std::shared_ptr<Tensor> multiply(cpu::CpuDense& cpu, const Tensor& x, const Tensor* b,
                                     const Progress& cancel) const;

private:
    TensorPtr own_;
    TableRows changed_;
};

/// A weight of the model's ends with its edits: W_E, W_P, W_type, W_U, b_U, or of the last norm. Null where
/// the model has none. Of an encoder, `model` is the encoder's, whose layers are the first that the edits
/// count. A table with edits is copied; other tensors are shared. Throws what Model::weight throws.
TensorPtr edited_end_weight(const Model& model, const ModelEdits& edits, TensorId weight);

} // namespace headscope::checkpoint
