#pragma once

#include "core/checkpoint/graph/model_graph.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/run.h"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The graph of a model over one text with the user's edits, and the means to run it on the CPU. Analyses
/// capture nodes and intervene on them. For one thread at a time.
class GraphRuns {
public:
    /// Throws Error(input) for inputs and edits that do not fit the model (see check_edits). Objects that
    /// share a machine run one at a time.
    GraphRuns(std::shared_ptr<const Model> model, const ModelInputs& inputs, const ModelEdits& edits,
              std::shared_ptr<cpu::CpuMachine> machine = cpu::make_cpu_machine());
    GraphRuns(const GraphRuns&) = delete;
    GraphRuns& operator=(const GraphRuns&) = delete;

    const graph::Graph& graph() const { return built_.graph; }
    /// See checkpoint::node_name.
    std::string name(AttentionPlace place, TensorId stage) const {
        return node_name(model_->architecture(), place, stage);
    }
    /// The node that the product with the output table reads. The model has a head.
    const std::string& head_input() const;

    /// Runs the model with its edits and, after them, `interventions`. Shares with `previous`, a run of this
    /// object or null, what cannot have changed. Plans are kept for later runs. Throws what run::run throws.
    run::RunPtr run(const std::vector<graph::Part>& captures, const run::Interventions& interventions,
                    const run::RunPtr& previous, Progress& progress);

private:
    void take_weights(const ModelEdits& edits);
    void take_layer(std::int64_t n, const LayerEdits& edits);

    std::shared_ptr<const Model> model_;
    ModelGraph built_;
    run::Leaves leaves_;
    run::Interventions edits_; ///< gains and patched rows
    cpu::CpuBackend backend_;
    std::list<run::PlanPtr> plans_; ///< the one used last first
};

} // namespace headscope::checkpoint
