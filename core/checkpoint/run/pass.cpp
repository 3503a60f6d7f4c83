#include "core/checkpoint/run/pass.h"

#include <memory>
#include <utility>

namespace headscope::checkpoint {

Pass::Pass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits, float temperature,
           const RunAttention& attention)
    : inputs_(inputs),
      text_(std::shared_ptr<const Model>(std::shared_ptr<void>(), &model), inputs, nullptr, temperature),
      backend_(text_, inputs, attention) {
    check_edits(model, edits);
    numbers_ = text_.with(edits);
}

run::RunPtr Pass::run(const std::vector<graph::Part>& captures, Progress& progress,
                      const run::TakeNode& take) {
    run::NodeInterventions resolved = run::resolve(text_.graph(), numbers_.interventions);
    const auto plan = std::make_shared<const run::Plan>(text_.graph(), captures, resolved, backend_);
    const ReleasesWeights at_end{text_};
    return run::run(plan, numbers_.leaves, std::move(resolved), nullptr, progress, take);
}

} // namespace headscope::checkpoint
