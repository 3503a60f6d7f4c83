#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/run/attention_backend.h"

#include <string>
#include <vector>

namespace headscope::checkpoint {

/// A pass of a model over its inputs, with the user's edits: captures any nodes of its graph. For one thread
/// at a time.
class Pass {
public:
    /// Each attention is computed by `attention` unless that is empty, everything else on the CPU.
    /// temperature: divides the scaled scores of every layer. Model, inputs and `attention` must outlive the
    /// pass. Throws Error(input) for inputs and edits that do not fit the model.
    Pass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits, float temperature,
         const RunAttention& attention);
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    const TextGraph& text() const { return text_; }
    const ModelInputs& inputs() const { return inputs_; }
    /// Those that the edits make.
    const run::Interventions& interventions() const { return numbers_.interventions; }
    /// The device that computed the last attention; "cpu" before a run.
    const std::string& device() const { return backend_.device(); }

    /// Throws what run::run and `attention` throw.
    run::RunPtr run(const std::vector<graph::Part>& captures, Progress& progress,
                    const run::TakeNode& take = {});

private:
    const ModelInputs& inputs_;
    TextGraph text_;
    AttentionBackend backend_;
    TextGraph::Numbers numbers_;
};

} // namespace headscope::checkpoint
