#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/model/model.h"

#include <cstdint>
#include <map>
#include <vector>

namespace headscope::checkpoint {

/// What a user changed in the attention of one layer.
struct LayerEdits {
    /// W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, q_norm, k_norm that were changed, whole, in our layout and of
    /// the model's shape.
    std::map<TensorId, TensorPtr> tensors;
    std::vector<float> gains; ///< one per head; empty: all 1
    bool empty() const { return tensors.empty() && gains.empty(); }
};
/// By the number of the attention, which is the layer's in a model of one stack (see stacks.h); one without
/// changes is not listed. Tensors are compared by identity.
using ModelEdits = std::map<std::int64_t, LayerEdits>;

/// Throws Error(input) for what the model does not have - a layer, a tensor, as many heads as there are gains
/// - and for a tensor of another shape or with a number that is not finite.
void check_edits(const Model& model, const ModelEdits& edits);

/// A layer's attention with what the user changed in it; nothing when nothing was.
Problem with_edits(Problem problem, const LayerEdits* edits);
/// Null for an attention without changes.
const LayerEdits* edits_of(const ModelEdits& edits, std::int64_t n);
/// The number of the first attention in which they differ, or `count`. Gains that are all 1 are no gains.
std::int64_t first_difference(const ModelEdits& a, const ModelEdits& b, std::int64_t count);

/// The model's name of a weight that can be edited, W_Q to k_norm; nothing for other tensors.
std::optional<WeightId> weight_of(TensorId id);

} // namespace headscope::checkpoint
