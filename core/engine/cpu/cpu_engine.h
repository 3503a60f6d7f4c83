#pragma once

#include "core/engine/cpu/worker_pool.h"
#include "core/engine/engine.h"

namespace headscope {

/// Multi-head attention with Eigen. Works on tiles of query rows, so that nothing of size Tq x Tk is held
/// unless a stage of that size is wanted. Results do not depend on the number of threads: the tiles do not.
class CpuEngine : public Engine {
public:
    /// threads: how many work at once; 0: one per core.
    explicit CpuEngine(int threads = 0);

    std::string name() const override { return "cpu"; }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    WorkerPool pool_;
};

} // namespace headscope
