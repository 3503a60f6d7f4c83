#include "core/engine/cpu/cpu_engine.h"

#include "core/engine/cpu/graph_backend.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/problem_runs.h"

#include <algorithm>
#include <thread>

namespace headscope::cpu {

namespace {

int thread_count(int asked) {
    return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::shared_ptr<CpuMachine> make_machine(int threads, const Kernels& kernels) {
    return std::shared_ptr<CpuMachine>(
        new CpuMachine{.kernels = kernels, .pool = WorkerPool(thread_count(threads))});
}

} // namespace

std::shared_ptr<CpuMachine> make_cpu_machine(int threads) {
    return make_machine(threads, best_kernels());
}

CpuEngine::CpuEngine(std::shared_ptr<CpuMachine> machine)
    : backend_(std::make_unique<CpuBackend>(std::move(machine))),
      runs_(std::make_unique<engine::ProblemRuns>(*backend_)) {}

CpuEngine::CpuEngine(int threads, const Kernels& kernels) : CpuEngine(make_machine(threads, kernels)) {}

void release_memory(CpuMachine& machine) {
    machine.store->release();
}

CpuEngine::CpuEngine(int threads) : CpuEngine(threads, best_kernels()) {}

CpuEngine::~CpuEngine() = default;

Trace CpuEngine::run(const Problem& problem, StageSet wanted, Progress& progress) {
    return engine::timed([&] {
        validate(problem);
        return runs_->run(problem, wanted, progress);
    });
}

Trace CpuEngine::rerun(const Problem& problem, const Problem& before, const Trace& previous,
                       Progress& progress) {
    if (problem.dims != before.dims || previous.device != name())
        return run(problem, StageSet::all(), progress);
    return engine::timed([&] {
        validate(problem);
        return runs_->rerun(problem, before, previous, progress);
    });
}

} // namespace headscope::cpu
