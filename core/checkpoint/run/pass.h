#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/run/run.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A pass of a model over its inputs, with the user's edits: captures any nodes of its graph. For one thread
/// at a time.
class Pass {
public:
    /// backend: null for the CPU. temperature: divides the scaled scores of every layer. Model, inputs and
    /// backend must outlive the pass. Throws Error(input) for inputs and edits that do not fit the model.
    Pass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits, float temperature,
         run::Backend* backend);
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    const TextGraph& text() const { return text_; }
    const ModelInputs& inputs() const { return inputs_; }
    /// Those that the edits make.
    const run::Interventions& interventions() const { return numbers_.interventions; }
    /// The device of the last run, as Plan::device says it; "cpu" before a run, and once the device failed.
    std::string device() const;
    /// Returns true if the CPU computed a node of the last run.
    bool is_on_cpu(run::NodeId node) const;

    /// Throws what run::run and the backend's kernels throw.
    run::RunPtr run(const std::vector<graph::Part>& captures, Progress& progress,
                    const run::TakeNode& take = {});

private:
    const ModelInputs& inputs_;
    TextGraph text_;
    std::unique_ptr<run::Backend> cpu_; ///< null: another backend was given
    run::Backend& backend_;
    run::PlanPtr plan_; ///< of the last run
    TextGraph::Numbers numbers_;
};

} // namespace headscope::checkpoint
