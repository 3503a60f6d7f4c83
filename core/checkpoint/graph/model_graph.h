#pragma once

#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/checkpoint/model/stacks.h"
#include "core/graph/evaluate.h"
#include "core/trace/tensor_id.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headscope::checkpoint {

struct Architecture;

/// The weight that is a parameter of a graph.
struct WeightPlace {
    AttentionPlace place; ///< layer -1: around the layers of its stack
    TensorId weight{};
    bool may_lack = false; ///< a file without the tensor means zeros
    std::optional<std::int64_t> matrix =
        {}; ///< the part of a weight that has one for each copy of the stream
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
/// logits. `temperature` divides the scaled scores of every layer. Throws Error(input) for inputs that do not
/// fit the architecture.
ModelGraph graph_of(const Architecture& architecture, const ModelInputs& inputs, bool has_head,
                    float temperature = 1);

/// Reads the numbers of parameters, in the order of a graph one layer after the other. Any thread may use it.
class WeightReader {
public:
    WeightReader(std::map<std::string, WeightPlace, std::less<>> places, std::shared_ptr<const Model> model);

    /// Null for other nodes than parameters. Keeps the weights of the layer. Throws what Model::layer throws.
    TensorPtr read(const graph::Node& node);
    /// Frees the weights of the layer that was read last.
    void release();

private:
    TensorPtr weight_at(const WeightPlace& at);
    std::map<std::string, WeightPlace, std::less<>> places_;
    std::shared_ptr<const Model> model_;
    std::mutex mutex_;
    std::int64_t attention_ = -1; ///< the attention of `weights_`
    WeightSet weights_;
};

/// The numbers of inputs and parameters. Graph and model must outlive the result. Throws likewise.
graph::LeafSource leaves_of(const ModelGraph& graph, const Model& model);

} // namespace headscope::checkpoint
