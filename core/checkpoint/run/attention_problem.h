#pragma once

#include "core/attention/problem.h"
#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/model/stacks.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The numbers that an attention reads and that the model computes before it.
struct AttentionSources {
    TensorPtr x;             ///< what the projections read
    TensorPtr x_kv;          ///< the encoder's output in a cross-attention, or latent vectors; else null
    TensorPtr rel_positions; ///< the vectors of relative positions; null if there are none
    TensorPtr bias;          ///< what the mask adds to the scores; null if it adds nothing
};

/// Attention of a model as a problem, with sizes, mask, rotary tables and temperature of the layer, and
/// tokens if there is one text. `weights`: those of the layer, or none; keys and values that an earlier layer
/// shares are made by that layer's. Gains are left out.
Problem attention_problem(const TextGraph& text, const ModelInputs& inputs, AttentionPlace place,
                          const WeightSet& weights, const AttentionSources& sources);

/// The nodes with these numbers; empty where there is none. Their axes are those of the fields, those of
/// `bias` among (B, H, Tq, Tk).
struct AttentionSourceNodes {
    std::string x, x_kv, rel_positions, bias;
    std::vector<graph::Part> captures() const;
    /// numbers: returns those of a node.
    AttentionSources of(const std::function<TensorPtr(const std::string& node)>& numbers) const;
};
AttentionSourceNodes sources_of_attention(const TextGraph& text, AttentionPlace place);

/// The sizes of that problem.
Dims dims_of_attention(const Model& model, const ModelInputs& inputs, AttentionPlace place);
/// Which parts it has.
ProblemParts parts_of_attention(const TextGraph& text, AttentionPlace place);

} // namespace headscope::checkpoint
