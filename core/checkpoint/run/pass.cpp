#include "core/checkpoint/run/pass.h"

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"

#include <memory>
#include <utility>

namespace headscope::checkpoint {

Pass::Pass(const Model& model, const ModelInputs& inputs, const ModelEdits& edits, float temperature,
           run::Backend* backend)
    : inputs_(inputs),
      text_(std::shared_ptr<const Model>(std::shared_ptr<void>(), &model), inputs, nullptr, temperature),
      cpu_(backend == nullptr ? std::make_unique<cpu::CpuBackend>(cpu::make_cpu_machine()) : nullptr),
      backend_(backend == nullptr ? *cpu_ : *backend) {
    check_edits(model, edits);
    numbers_ = text_.with(edits);
}

std::string Pass::device() const {
    return plan_ == nullptr || backend_.has_failed() ? run::cpu_device : plan_->device();
}

bool Pass::is_on_cpu(run::NodeId node) const {
    return device() == run::cpu_device || plan_->is_on_cpu(node);
}

run::RunPtr Pass::run(const std::vector<graph::Part>& captures, Progress& progress,
                      const run::TakeNode& take) {
    run::NodeInterventions resolved = run::resolve(text_.graph(), numbers_.interventions);
    plan_ = std::make_shared<const run::Plan>(text_.graph(), captures, resolved, backend_);
    const ReleasesWeights at_end{text_};
    return run::run(plan_, numbers_.leaves, std::move(resolved), nullptr, progress, take);
}

} // namespace headscope::checkpoint
