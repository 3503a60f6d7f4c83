#pragma once

#include "core/checkpoint/model/stacks.h"
#include "core/trace/tensor_id.h"

#include <optional>
#include <vector>

namespace headscope::checkpoint {

// Which rows of block_table() a model has, and what each is made from: all else asks here.

/// Those around an attention, in the order in which they are computed: of its layer, or of a decoder that
/// reads an encoder up to the cross-attention and from there on. `architecture` is that of the stack.
/// Attention stands before attn_raw or attn_out.
std::vector<TensorId> layer_stages(const Architecture& architecture, AttentionPlace place);
/// Those before the first layer.
std::vector<TensorId> first_stages(const Architecture& architecture);
/// Those after the last layer. `has_head`: the checkpoint has a language-model head.
std::vector<TensorId> last_stages(const Architecture& architecture, bool has_head);

/// The place in the name that a file gives a stage around an attention. The MLP behind a decoder's
/// cross-attention is named by the layer: decoder.layers.3.mlp_act.
AttentionPlace place_in_files(AttentionPlace place, TensorId id);

/// Whether a row is what attention or MLP returned, times the architecture's branch_scale.
bool is_scaled_branch(const Architecture& architecture, TensorId id);

/// Whether a row of layer l is the sum of the chosen experts' outputs, each times its fraction.
bool is_sum_of_experts(const Architecture& architecture, TensorId id, std::int64_t l);

/// What a row of layer l, or final_norm, is made from: the terms of a sum, what a norm works on, what a
/// product reads. `output` stands for the attention's own output. Empty for the others.
std::vector<TensorId> made_from(const Architecture& architecture, TensorId id, std::int64_t l);

/// The weights of a norm. Of a bias the model may have no tensor.
struct NormWeights {
    WeightId weight;
    std::optional<WeightId> bias{};
};
/// Nothing where a row is no norm: attn_out and mlp_out are norms only in layers with norms after the
/// branches.
std::optional<NormWeights> norm_weights(const Architecture& architecture, TensorId id);

} // namespace headscope::checkpoint
