#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/graph/evaluate.h"

#include <cstdint>
#include <map>
#include <string>

namespace headscope::checkpoint {

// The conversion of an Architecture to a graph, until the families build graphs themselves.

/// A weight of a model.
struct WeightPlace {
    bool encoder = false;        ///< of the encoder, for weights around its layers
    std::int64_t attention = -1; ///< number of the attention whose layer has it; -1: around the layers
    WeightId id{};
};

/// The computation of a model for one batch of inputs. Nodes have the names of exported files: "embedding",
/// "layers.3.scores", "decoder.layers.3.mlp_out", "cross.layers.3.weights", "hidden.2", "logits".
struct ModelGraph {
    graph::Graph graph;
    graph::Leaves inputs;                       ///< token ids, positions and the like
    std::map<std::string, WeightPlace> weights; ///< by parameter

    /// The numbers of the inputs, and of the parameters of a model, each read when it is asked for. A
    /// parameter that the model may lack is 0. The model must outlive the result.
    graph::LeafSource leaves(const Model& model) const;
};

/// Throws Error(input) for inputs that do not fit the architecture. `head`: the language-model head is there.
ModelGraph graph_of(const Architecture& architecture, const ModelInputs& inputs, bool head);

} // namespace headscope::checkpoint
