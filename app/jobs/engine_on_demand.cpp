#include "app/jobs/engine_on_demand.h"

namespace headscope::app {

Trace EngineOnDemand::run(const Problem& problem, StageSet wanted, Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (engine_ == nullptr)
        engine_ = engine::make_engine(device_);
    return engine_->run(problem, wanted, progress);
}

void EngineOnDemand::release() {
    // The window's thread calls this, so it must not wait for a run.
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock())
        engine_ = nullptr;
}

} // namespace headscope::app
