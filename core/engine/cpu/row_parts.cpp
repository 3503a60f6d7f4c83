#include "core/engine/cpu/row_parts.h"

#include "core/engine/cpu/run.h"

#include <utility>

namespace headscope::cpu {

namespace {

StageSet row_stages_up_to(TensorId last) {
    StageSet stages;
    for (const TensorId stage : row_stage_ids) {
        stages = stages.with(stage);
        if (stage == last)
            break;
    }
    return stages;
}

} // namespace

TensorPtr CpuRun::make_part(TensorId id, const RowPart& part) {
    const TensorId last = id == TensorId::weights_mean ? TensorId::weights : id;
    part_ = part;
    wanted_ = StageSet().with(last);
    row_stages_ = row_stages_up_to(last);
    Trace unused;
    attend_all(unused);
    if (id != last) {
        average_heads();
        own(last).reset();
    }
    return std::move(own(id));
}

StageSet RowParts::stages() {
    using enum TensorId;
    return StageSet()
        .with(scores)
        .with(scaled)
        .with(masked)
        .with(weights)
        .with(weights_mean)
        .with(contributions);
}

RowParts::RowParts(const Problem& problem, std::shared_ptr<CpuMachine> machine, Progress& progress)
    : problem_(problem), machine_(std::move(machine)) {
    validate(problem_);
    run_ = std::make_unique<CpuRun>(problem_, progress, *machine_);
    run_->prepare_parts();
}

RowParts::~RowParts() = default;

TensorPtr RowParts::make(TensorId stage, const RowPart& part) {
    return run_->make_part(stage, part);
}

} // namespace headscope::cpu
