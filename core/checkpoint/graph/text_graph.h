#pragma once

#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/run/run.h"

#include <memory>
#include <optional>
#include <string>

namespace headscope::checkpoint {

/// The graph of a model over one batch of texts, and where the numbers of its leaves are. Immutable; any
/// thread may use it.
class TextGraph {
public:
    /// `other`: a graph of the same model, or null; runs of both can share what does not depend on the texts.
    /// temperature: see checkpoint::graph_of. Throws Error(input) for inputs that do not fit the model.
    TextGraph(std::shared_ptr<const Model> model, const ModelInputs& inputs, const TextGraph* other = nullptr,
              float temperature = 1);
    TextGraph(const TextGraph&) = delete;
    TextGraph& operator=(const TextGraph&) = delete;

    const std::shared_ptr<const Model>& model() const { return model_; }
    const graph::Graph& graph() const { return built_.graph; }
    /// See ModelStages::name.
    std::string name(AttentionPlace place, TensorId stage) const {
        return model_->stages().name(place, stage);
    }
    /// The weight that a parameter is; nothing for other nodes.
    std::optional<TensorId> weight_of(graph::NodeId parameter) const;
    /// The node that the product with the output table reads. The model has a head.
    const std::string& head_input() const;

    /// What the user changed: parameters that are leaves of their own, and interventions for changed rows of
    /// tables, gains and patched rows.
    struct Numbers {
        run::Leaves leaves;
        run::Interventions interventions;
    };
    /// The numbers of the leaves with edits, which are not checked (see check_edits).
    Numbers with(const ModelEdits& edits) const;
    /// Frees the weights that were read last. Called after each run.
    void release_weights() const { reader_->release(); }

private:
    void take_weights(const ModelEdits& edits, Numbers& to) const;
    void take_layer(std::int64_t n, const LayerEdits& edits, Numbers& to) const;

    std::shared_ptr<const Model> model_;
    ModelGraph built_;
    std::vector<TensorPtr> inputs_;        ///< by node; null for other leaves
    std::shared_ptr<WeightReader> reader_; ///< of all graphs of the model, like `weights_`
    std::shared_ptr<const graph::LeafSource> weights_;
};
using TextGraphPtr = std::shared_ptr<const TextGraph>;

/// Frees the weights that a run has read, however it ends.
struct ReleasesWeights {
    const TextGraph& text;
    ~ReleasesWeights() { text.release_weights(); }
};

} // namespace headscope::checkpoint
