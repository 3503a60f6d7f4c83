#pragma once

#include "core/checkpoint/graph/text_graph.h"
#include "core/checkpoint/graph/workshop.h"

#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// Runs of the graph of a model over one text, with the user's edits, on the CPU. Analyses capture nodes and
/// intervene on them. For one thread at a time.
class GraphRuns {
public:
    /// Throws Error(input) for inputs and edits that do not fit the model (see check_edits).
    GraphRuns(std::shared_ptr<const Model> model, const ModelInputs& inputs, const ModelEdits& edits);
    /// Same, of a graph and edits that fit, with the threads of a workshop, which the caller locks for each
    /// run.
    GraphRuns(TextGraphPtr text, const ModelEdits& edits, std::shared_ptr<Workshop> workshop);

    const graph::Graph& graph() const { return text_->graph(); }
    const TextGraphPtr& text() const { return text_; }
    std::string name(AttentionPlace place, TensorId stage) const { return text_->name(place, stage); }
    const std::string& head_input() const { return text_->head_input(); }
    /// Those that the edits make.
    const run::Interventions& edits() const { return numbers_.interventions; }

    /// Runs the model with its edits and, after them, `interventions`. Shares with `previous`, a run of the
    /// same model or null, what cannot have changed. Plans are kept for later runs. Throws what run::run
    /// throws.
    run::RunPtr run(const std::vector<graph::Part>& captures, const run::Interventions& interventions,
                    const run::RunPtr& previous, Progress& progress, const run::TakeNode& take = {});
    /// Same, with all interventions in place of the edits' own; edited parameters stay.
    run::RunPtr run_with(const std::vector<graph::Part>& captures, const run::Interventions& all,
                         const run::RunPtr& previous, Progress& progress, const run::TakeNode& take = {});

private:
    TextGraphPtr text_;
    TextGraph::Numbers numbers_;
    std::shared_ptr<Workshop> workshop_;
};

} // namespace headscope::checkpoint
