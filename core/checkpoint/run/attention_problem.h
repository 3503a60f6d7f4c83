#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/model/stacks.h"

namespace headscope::checkpoint {

/// Attention of a model as a problem, with sizes, mask, rotary tables and temperature of the layer, and
/// tokens if there is one text. x: what the projections read; x_kv: the encoder's output, which a
/// cross-attention reads, else null. Gains are left out.
Problem attention_problem(const TextGraph& text, const ModelInputs& inputs, AttentionPlace place,
                          const WeightSet& weights, TensorPtr x, const TensorPtr& x_kv);

/// The sizes of that problem.
Dims dims_of_attention(const Model& model, const ModelInputs& inputs, AttentionPlace place);
/// Which parts it has.
ProblemParts parts_of_attention(const TextGraph& text, AttentionPlace place);

} // namespace headscope::checkpoint
