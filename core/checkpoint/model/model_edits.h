#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/model/model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headscope::checkpoint {

/// Numbers of what a layer computes, of a text alone in its batch, that stand in place of the run's own, or
/// are added to them: an activation of another run, or one that the user chose.
struct PatchedRows {
    /// resid_in, what the attention adds before a norm of the branch (attn_raw where there is one, else
    /// attn_out), mlp_out, or of a layer with one MLP mlp_act.
    TensorId at{};
    std::int64_t first = 0; ///< token of the first row
    TensorPtr rows;         ///< (n, w): numbers of n tokens; (n, width of the stage) where column is 0
    bool added = false;
    std::int64_t column = 0; ///< of the first number of each row
    bool holds(std::int64_t token, std::int64_t at_column) const {
        return token >= first && token < first + rows->shape()[0] && at_column >= column &&
               at_column < column + rows->shape()[1];
    }
    bool operator==(const PatchedRows&) const = default; ///< of tensors the identity
};

/// What a user changed in one attention and in what stands around it: its norms, and the MLP where that comes
/// next.
struct LayerEdits {
    /// The weights that were changed, whole, in our layout and of the model's shape; see is_editable_weight.
    /// The final norm of a stack belongs to the stack's last attention.
    std::map<TensorId, TensorPtr> tensors;
    std::vector<float> gains;              ///< one per head; empty: all 1
    std::vector<PatchedRows> patched = {}; ///< a later one goes over an earlier one
    /// Of a stack's word, position and token type table with the stack's first attention, of an output table
    /// of its own with the last one; what the experts have with their own layer's. A word table that both
    /// stacks read is the encoder's. None of them is empty.
    std::map<TensorId, TableRows> rows = {};
    bool empty() const { return tensors.empty() && gains.empty() && patched.empty() && rows.empty(); }
};
/// By the number of the attention, which is the layer's in a model of one stack (see stacks.h); one without
/// changes is not listed. Tensors are compared by identity.
using ModelEdits = std::map<std::int64_t, LayerEdits>;

/// Whether some layer has patched rows that its parts do not add up to: those of mlp_act are no such.
bool is_patched(const ModelEdits& edits);
/// The same weights and gains with the patched rows of `patches`, and with no others.
ModelEdits with_patches_of(ModelEdits edits, const ModelEdits& patches);

/// Throws Error(input) for what the model does not have - a layer, a tensor, as many heads as there are gains
/// - for weights that cannot be edited, for patched rows of a stage that no patch replaces, and for a tensor
/// of another shape or with a number that is not finite.
void check_edits(const Model& model, const ModelEdits& edits);

/// A layer's attention with what the user changed in it; nothing when nothing was.
Problem with_edits(Problem problem, const LayerEdits* edits);
/// The same of weights, of which those that are not there stay absent.
WeightSet with_edits(WeightSet weights, const LayerEdits* edits);
/// Same, with the edits of the weights that make its keys and values, which an earlier attention may hold.
Problem with_edits(Problem problem, const ModelConfig& config, const ModelEdits& edits, std::int64_t n);
/// Null for an attention without changes.
const LayerEdits* edits_of(const ModelEdits& edits, std::int64_t n);
/// The number of the first attention in which they differ, or `count`. Gains that are all 1 are no gains.
std::int64_t first_difference(const ModelEdits& a, const ModelEdits& b, std::int64_t count);

/// Returns true for the weights that edits can change: those of attention that its page shows, and those of
/// block_weight_table().
bool is_editable_weight(TensorId weight);
/// The weight that the model reads in place of `weight`: the word table for the output table of a tied model,
/// else `weight`.
TensorId read_as(const ModelConfig& config, TensorId weight);
/// The last attention of the stack that attention n belongs to: the cross-attention of a decoder's last
/// layer.
std::int64_t last_of_stack(const ModelConfig& config, std::int64_t n);
/// The attention whose edits hold that weight, where attention n and what stands around it are looked at: n
/// itself, but for the final norm, the tables, the output bias and what makes keys and values that layers
/// share.
std::int64_t edited_with(const ModelConfig& config, std::int64_t n, TensorId weight);
/// The checkpoint's own weights that the edits of attention n may change whole, and the others of the layer.
/// Throws what Model::layer throws.
WeightSet editable_weights(const Model& model, std::int64_t n);

/// The changed rows of a table, as attention n and what stands around it read it; null when there are none.
/// Of the output table of a tied model those of the word table.
const TableRows* edited_rows(const ModelConfig& config, const ModelEdits& edits, TensorId table,
                             std::int64_t n);
/// Whether two sets of edits leave the same vectors to enter the first layer of the stack. Of an encoder,
/// `config` is the encoder's, as in edited_rows.
bool same_embedding(const ModelConfig& config, const ModelEdits& a, const ModelEdits& b);
/// The encoder where attention n is one of its layers, else the model itself: whose tables and final norm the
/// edits of attention n change.
const Model& stack_at(const Model& model, std::int64_t n);

} // namespace headscope::checkpoint
