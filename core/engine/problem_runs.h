#pragma once

#include "core/attention/graph_of_problem.h"
#include "core/base/progress.h"
#include "core/run/run.h"
#include "core/trace/trace.h"

#include <chrono>
#include <list>
#include <utility>
#include <vector>

namespace headscope::engine {

/// Sets the wall time of a trace to that of `compute`.
template<class Compute>
Trace timed(const Compute& compute) {
    const auto start = std::chrono::steady_clock::now();
    Trace trace = compute();
    trace.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return trace;
}

/// Runs problems as graphs on a backend. Keeps the graphs and plans of recent problems: an edit, and the next
/// layer of a model, need none of their own. For one thread at a time.
class ProblemRuns {
public:
    /// The backend must outlive this object.
    explicit ProblemRuns(run::Backend& backend) : backend_(backend) {}

    /// Computes the wanted stages of a validated problem. Before it refuses a run that does not fit into
    /// memory, it frees what the backend keeps between runs. Throws what run::run and require_memory_for
    /// throw.
    Trace run(const Problem& problem, StageSet wanted, Progress& progress);
    /// Computes all stages. Shares with `previous`, a trace of all stages of `before` by the same backend,
    /// the numbers that cannot have changed.
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous, Progress& progress);

private:
    /// A stage of the table that the problem has.
    struct Stage {
        TensorId id;
        graph::NodeId node;
        std::int64_t heads; ///< 0: the stage has no axis of heads
    };
    struct Known {
        ProblemStructure structure;
        AttentionGraph graph;
        std::vector<Stage> stages;
        StageSet all;
        std::vector<std::pair<StageSet, run::PlanPtr>> plans; ///< by captured stages
    };
    Known& known(const ProblemStructure& structure);
    const run::PlanPtr& plan(Known& known, StageSet captured) const;
    run::RunPtr run_of(const Trace& trace, Known& known, std::vector<TensorPtr> leaves) const;
    Trace trace_of(const run::Run& run, const Known& known, const Problem& problem) const;

    run::Backend& backend_;
    bool device_failed_ = false; ///< the plans in known_ are those that the backend made afterwards
    std::list<Known> known_;     ///< the most recently used one first
};

} // namespace headscope::engine
