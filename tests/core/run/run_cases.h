#pragma once

#include "core/attention/graph_of_problem.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/run.h"

#include <map>
#include <string>
#include <vector>

namespace headscope::test {

/// Runs the graphs of problems on the CPU.
class GraphRunner {
public:
    run::RunPtr run(const ProblemGraph& problem, const std::vector<graph::Part>& captures,
                    const run::RunPtr& previous = nullptr, const run::Interventions& interventions = {});
    run::RunPtr run(const Problem& problem, const std::vector<graph::Part>& captures,
                    const run::RunPtr& previous = nullptr);

private:
    cpu::CpuBackend backend_{cpu::make_cpu_machine(2)};
};

/// Every stage that the problem has.
std::vector<graph::Part> all_stages(const Problem& problem);
/// The captured stages of a run as a trace, with the heads that it computed.
Trace trace_of(const run::Run& run, const Problem& problem);
/// Returns the first stage that differs by a bit, or an empty text. Stages that `expected` lacks are not
/// compared; fully masked rows are.
std::string difference_in_bits(const Trace& got, const Trace& expected);

/// One problem for each feature of attention.
std::map<std::string, Problem> problems_of_every_feature();

} // namespace headscope::test
