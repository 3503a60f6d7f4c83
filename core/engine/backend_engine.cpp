#include "core/engine/backend_engine.h"

namespace headscope::engine {

Trace BackendEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    return timed([&] {
        validate(problem);
        return runs_.run(problem, wanted, progress);
    });
}

Trace BackendEngine::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                           Progress& progress) {
    if (problem.dims != before.dims || previous.device != run::cpu_device)
        return run(problem, StageSet::all(), progress);
    return timed([&] {
        validate(problem);
        return runs_.rerun(problem, before, previous, progress);
    });
}

} // namespace headscope::engine
