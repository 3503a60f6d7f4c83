#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/graph/evaluate.h"
#include "core/trace/tensor_id.h"

#include <map>
#include <string>

namespace headscope::checkpoint {

// Temporary: the graph of a model from its Architecture, until each family builds its graph from its
// configuration.

/// The weight that is a parameter of a graph.
struct WeightPlace {
    AttentionPlace place; ///< layer -1: around the layers of its stack
    WeightId weight{};
    bool may_lack = false; ///< a file without the tensor means zeros
};

/// The computation of a model for one batch of texts. Nodes have the names of exported files: "embedding",
/// "layers.3.scores", "logits"; in an encoder-decoder "encoder.embedding", "decoder.layers.3.mlp_out",
/// "cross.layers.3.weights". "hidden.2" is the residual stream after two layers, the last one after the final
/// norm unless that belongs to the head, as in Hugging Face's hidden_states. Inputs within the layers (head
/// gains, temperatures) are constants.
struct ModelGraph {
    graph::Graph graph;
    graph::Leaves inputs; ///< numbers of the nodes of kind input: token ids, positions, flags of padding
    std::map<std::string, WeightPlace, std::less<>> weights; ///< by the name of the parameter
};

/// `has_head`: the checkpoint has a language-model head (see Model::has_head); without it there are no
/// logits. Throws Error(input) for inputs that do not fit the architecture.
ModelGraph graph_of(const Architecture& architecture, const ModelInputs& inputs, bool has_head);

/// The name of the node of a stage of an attention or of what stands around it: "layers.3.head_out". Layer
/// -1: of a stack as a whole, "embedding".
std::string node_name(const Architecture& architecture, AttentionPlace place, TensorId stage);

/// Reads the numbers of inputs and parameters when they are asked for; keeps the weights of one layer. The
/// graph and the model must outlive the result, which one thread may use. Throws what Model::layer throws.
graph::LeafSource leaves_of(const ModelGraph& graph, const Model& model);

} // namespace headscope::checkpoint
