#pragma once

#include "core/checkpoint/graph/stack_text.h"

#include <functional>
#include <vector>

namespace headscope::checkpoint {

// The nodes of models with several copies of the residual stream; see StreamCopies. The active copy has plain
// names, such as "layers.3.predicted"; the others have their number as well: "layers.3.predicted.1".

/// The parts of the per-layer embeddings, with the columns of all layers side by side.
struct LayerEmbeddings {
    graph::Value rows;        ///< of the table of these embeddings
    graph::Value projections; ///< of the embedding of the model
    graph::Value norm;        ///< weights of a norm of one layer's projections
};
LayerEmbeddings add_layer_embeddings(graph::Builder& g, LeafBuilder& leaves, const StackText& text,
                                     const graph::Value& embedding);

/// Adds the copies that enter the first layer.
std::vector<graph::Value> add_copies(graph::Builder& g, LeafBuilder& leaves, const StackText& text,
                                     const graph::Value& embedding);
/// Adds the mean of the copies after the last layer.
graph::Value merge_copies(graph::Builder& g, LeafBuilder& leaves, const StackText& text,
                          const std::vector<graph::Value>& copies);

/// Adds what a layer computes around its attention and its MLP.
class CopiesBuilder {
public:
    /// `weight`: a weight of the layer; empty if it has none. All must outlive the builder.
    CopiesBuilder(graph::Builder& g, const Architecture& architecture, std::int64_t layer,
                  const LayerEmbeddings& embeddings, std::function<graph::OptionalValue(TensorId)> weight)
        : g_(g), a_(architecture), copies_(*architecture.copies), layer_(layer), embeddings_(embeddings),
          weight_(std::move(weight)) {}

    /// The layer's predictions of the copies, from those that enter it.
    std::vector<graph::Value> predict(const std::vector<graph::Value>& copies);
    /// The low-rank branch, plus its input.
    graph::Value laurel(const graph::Value& input);
    /// The copies that leave the layer. `activated`: the active copy after attention and MLP.
    std::vector<graph::Value> finish(const std::vector<graph::Value>& predicted,
                                     const graph::Value& activated);

private:
    /// The labels of the steps to the coefficients.
    struct RouterLabels {
        const graph::Label &normed, &scaled, &routed, &modalities;
    };
    /// The numbers of a token that the coefficients are products of: (B, Tq, copies).
    graph::Value modalities(const RouterLabels& labels, const graph::Value& active);
    graph::Value layer_out(const graph::Value& corrected);
    graph::Value layer_in();

    graph::Builder& g_;
    const Architecture& a_;
    const StreamCopies& copies_;
    std::int64_t layer_;
    const LayerEmbeddings& embeddings_;
    std::function<graph::OptionalValue(TensorId)> weight_;
    std::optional<graph::Value> router_norm_, W_router_; ///< read twice
};

/// Calls add(label) with the label of a copy: `label` for the active one, else with the copy's number.
graph::Value for_copy(const StreamCopies& copies, std::int64_t copy, const graph::Label& label,
                      const std::function<graph::Value(const graph::Label&)>& add);

} // namespace headscope::checkpoint
