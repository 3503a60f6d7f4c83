#pragma once

#include "core/engine/engine.h"
#include "core/engine/problem_runs.h"

#include <memory>
#include <string>

namespace headscope::engine {

/// Computes problems as runs of their graphs on a backend of any device.
class BackendEngine : public Engine {
public:
    explicit BackendEngine(std::unique_ptr<run::Backend> backend)
        : backend_(std::move(backend)), runs_(*backend_) {}

    std::string name() const override { return backend_->name(); }
    using Engine::run;
    /// Trace::device is "cpu" if the CPU computed all stages. Also throws what the backend's kernels throw.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    /// Shares numbers with `previous` where the CPU computes all stages.
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    std::unique_ptr<run::Backend> backend_;
    ProblemRuns runs_;
};

} // namespace headscope::engine
