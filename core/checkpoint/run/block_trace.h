#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/stacks.h"
#include "core/checkpoint/weights/kept_weights.h"
#include "core/trace/stage.h"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace headscope::checkpoint {

class ModelStages;

/// What a checkpoint computes around one attention, or before the first layer of a stack and after the last
/// one, for one text. Numbers never change; any thread may read them.
struct BlockTrace {
    AttentionPlace place{Stack::own, -1}; ///< layer -1: before and after the layers
    /// By tensor: rows of block_table(), and `output`, which is attention's; null for those that are not of
    /// this part of the model. Of logits and probabilities one row, that of `position`: (1, 1, vocab).
    std::array<TensorPtr, tensor_count> tensors;
    WeightSet weights; ///< that they were computed with, edits included; of tables the checkpoint's
    WeightSet own;     ///< the checkpoint's
    std::map<TensorId, TableRows> rows = {};   ///< of tables, those that edits changed; none is empty
    std::vector<PatchedRows> patched = {};     ///< see LayerEdits
    std::shared_ptr<const ModelConfig> config; ///< of the stack
    std::shared_ptr<const ModelStages> stages; ///< of the whole model

    // Of a layer with an MLP for all tokens.
    /// (1, T, d_ff): mlp_gate, or without a gate mlp_pre, after the activation, without what is patched
    /// there.
    TensorPtr activated;
    TensorPtr shared_fraction; ///< (1, T, 1): multiplies the output of the MLP beside experts; null: 1
    std::vector<std::array<float, 2>> curve; ///< points of the activation, over all that it is applied to

    // Before and after the layers. resid_in is what enters layer 0.
    std::int64_t position = 0;
    TensorPtr head_in; ///< (1, 1, d_embed), the row that the head's table multiplies; null without a head

    /// Of the text: each part of the model holds what enters a layer, resid_in.
    std::int64_t T() const { return (*this)[TensorId::resid_in]->shape()[1]; }
    /// A tensor, or a weight of block_weight_table(); null where there is none.
    const TensorPtr& find(TensorId id) const;
    /// The same; of a table with its edits, which makes a copy where there are some.
    TensorPtr edited(TensorId id) const;
    const TensorPtr& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
    TensorPtr& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
    /// The number at an address of the whole text, of a table with its edits. The tensor must be there, and
    /// of logits the row.
    float value(TensorId id, Index at) const;
    /// Whether the user set the number in place of what the layer computes.
    bool is_set(TensorId id, const Index& at) const;
    /// Of a weight around attention, which must be there: the checkpoint's own number.
    float own_value(TensorId weight, const Index& at) const;
    /// The row of a table that is there, with its edits: its numbers.
    std::span<const float> table_row(TensorId table, std::int64_t row) const;
};
using BlockTracePtr = std::shared_ptr<const BlockTrace>;

/// How much each part adds to the residual stream at each token: Euclidean lengths of rows of D numbers.
struct StackLengths {
    std::vector<float> begin;               ///< (T) of what enters layer 0
    std::vector<std::vector<float>> layers; ///< (L, T) of what follows an attention, and the MLP where that
                                            ///< comes next, minus what entered
};

/// (T): the lengths of the rows of x, (1, T, D).
std::vector<float> row_lengths(const Tensor& x);

} // namespace headscope::checkpoint
