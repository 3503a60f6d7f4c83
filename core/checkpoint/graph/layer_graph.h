#pragma once

#include "core/checkpoint/graph/copies_graph.h"
#include "core/checkpoint/graph/stack_text.h"
#include "core/graph/parts/attention.h"

#include <vector>

namespace headscope::checkpoint {

/// The values that all layers of a stack read.
struct SharedValues {
    std::vector<graph::Rotary> rotary = {}; ///< for each of Architecture::ropes
    graph::OptionalValue query_scale = {};  ///< (Tq): Architecture::query_scale at each position
    graph::OptionalValue ones = {};         ///< (dk): the weights of norms without weights
    graph::OptionalValue bias = {};         ///< added to the scaled scores: ALiBi or learned distances
    graph::OptionalValue relative = {};     ///< (distances, D): vectors of relative positions
    graph::OptionalValue key_valid = {};    ///< (B, Tk): 1 for tokens that are not padding
    graph::OptionalValue token_valid = {};  ///< (B, Tq, 1): the same, for delta layers
    std::optional<LayerEmbeddings> layer_embeddings = {};
};
SharedValues add_shared_values(graph::Builder& g, LeafBuilder& leaves, const StackText& text);

/// Adds an attention with its norms, and the MLP where that comes next. `encoder`: (B, Tk, D), the source of
/// keys and values of a cross-attention. Returns the residual stream after them.
graph::Value add_layer(const graph::Builder& root, LeafBuilder& leaves, const StackText& text,
                       AttentionPlace place, const SharedValues& shared, const graph::OptionalValue& encoder,
                       const graph::Value& stream);
/// Same, of a model with several copies of the residual stream.
std::vector<graph::Value> add_layer(const graph::Builder& root, LeafBuilder& leaves, const StackText& text,
                                    AttentionPlace place, const SharedValues& shared,
                                    const std::vector<graph::Value>& copies);

} // namespace headscope::checkpoint
