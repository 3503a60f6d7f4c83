#include "core/checkpoint/graph/graph_runs.h"

#include <utility>

namespace headscope::checkpoint {

namespace {

TextGraphPtr checked_text(std::shared_ptr<const Model> model, const ModelInputs& inputs,
                          const ModelEdits& edits) {
    auto text = std::make_shared<const TextGraph>(std::move(model), inputs);
    check_edits(*text->model(), edits);
    return text;
}

} // namespace

GraphRuns::GraphRuns(std::shared_ptr<const Model> model, const ModelInputs& inputs, const ModelEdits& edits)
    : GraphRuns(checked_text(std::move(model), inputs, edits), edits, std::make_shared<Workshop>()) {}

GraphRuns::GraphRuns(TextGraphPtr text, const ModelEdits& edits, std::shared_ptr<Workshop> workshop)
    : text_(std::move(text)), numbers_(text_->with(edits)), workshop_(std::move(workshop)) {}

run::RunPtr GraphRuns::run(const std::vector<graph::Part>& captures, const run::Interventions& interventions,
                           const run::RunPtr& previous, Progress& progress, const run::TakeNode& take) {
    run::Interventions all = numbers_.interventions;
    all.insert(all.end(), interventions.begin(), interventions.end());
    return run_with(captures, all, previous, progress, take);
}

run::RunPtr GraphRuns::run_with(const std::vector<graph::Part>& captures, const run::Interventions& all,
                                const run::RunPtr& previous, Progress& progress, const run::TakeNode& take) {
    run::NodeInterventions resolved = run::resolve(graph(), all);
    const run::PlanPtr plan = workshop_->plans.find(graph(), captures, resolved);
    const ReleasesWeights at_end{*text_};
    return run::run(plan, numbers_.leaves, std::move(resolved), previous, progress, take);
}

} // namespace headscope::checkpoint
