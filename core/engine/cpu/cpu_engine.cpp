#include "core/engine/cpu/cpu_engine.h"

#include "core/engine/cpu/graph_backend.h"
#include "core/engine/cpu/machine.h"

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
    : BackendEngine(std::make_unique<CpuBackend>(std::move(machine))) {}

CpuEngine::CpuEngine(int threads, const Kernels& kernels) : CpuEngine(make_machine(threads, kernels)) {}

void release_memory(CpuMachine& machine) {
    machine.store->release();
}

CpuEngine::CpuEngine(int threads) : CpuEngine(threads, best_kernels()) {}

} // namespace headscope::cpu
