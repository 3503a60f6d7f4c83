#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/graph/model_graph.h"
#include "core/graph/builder.h"
#include "core/tensor/dims.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A stack of a model and the texts that it reads, while its graph is built.
struct StackText {
    const Architecture& model;        ///< the whole model
    const Architecture& architecture; ///< the stack alone
    Stack stack;                      ///< own or encoder
    const ModelInputs& inputs;        ///< the texts
    Dims dims;                        ///< sizes of the self-attention
    float temperature = 1;            ///< divides the scaled scores of every layer, beside the model's own

    /// A builder for nodes around the layers: "encoder.embedding".
    graph::Builder around(const graph::Builder& root) const;
    /// A builder for nodes of a layer: "encoder.layers.3.scores".
    graph::Builder layer(const graph::Builder& root, AttentionPlace place) const;
};
/// `model` and `inputs` must outlive the result.
StackText text_of(const Architecture& model, Stack stack, const ModelInputs& inputs, float temperature);

/// Adds the parameters and inputs of a model to its graph and records where their numbers are.
class LeafBuilder {
public:
    /// A weight of an attention or of the MLP after it, or, in layer -1, of a weight around the layers. Empty
    /// if the model has no such weight.
    graph::OptionalValue weight(graph::Builder& g, const StackText& text, AttentionPlace place, TensorId id);
    /// One of the matrices of a weight that has one for each copy of the stream; `label` names it.
    graph::Value matrix(graph::Builder& g, const StackText& text, const graph::Label& label, TensorId id,
                        std::int64_t number);
    /// `numbers`: axes.count() of them.
    graph::Value input(graph::Builder& g, const graph::Label& label, const graph::Axes& axes,
                       const std::vector<float>& numbers, graph::Input::Kind kind);
    /// A position table that is computed (Architecture::sinusoids).
    graph::Value position_table(graph::Builder& g, const StackText& text);

    graph::Leaves take_inputs() { return std::move(inputs_); }
    std::map<std::string, WeightPlace, std::less<>> take_weights() { return std::move(weights_); }

private:
    graph::Value parameter(graph::Builder& g, const StackText& text, const graph::Label& label,
                           const WeightPlace& place, graph::Parameter source);
    graph::Leaves inputs_;
    std::map<std::string, WeightPlace, std::less<>> weights_;
};

/// The norm of an architecture's kind. An architecture may lack the weight, the bias or both.
graph::Value add_norm(graph::Builder& g, const graph::Label& label, const Architecture& architecture,
                      const graph::Value& x, const graph::OptionalValue& weight,
                      const graph::OptionalValue& bias = {});

} // namespace headscope::checkpoint
