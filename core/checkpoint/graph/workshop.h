#pragma once

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/plan_cache.h"

#include <memory>
#include <mutex>

namespace headscope::checkpoint {

/// Threads and memory of the processor, and the plans of recent runs: for one thread at a time, who locks
/// `mutex`. Runs that follow each other share one, and with it the memory it keeps.
struct Workshop {
    explicit Workshop(std::shared_ptr<cpu::CpuMachine> of = cpu::make_cpu_machine())
        : machine(std::move(of)) {}

    std::mutex mutex;
    std::shared_ptr<cpu::CpuMachine> machine;
    cpu::CpuBackend backend{machine};
    run::PlanCache plans{backend};
    cpu::CpuEngine engine{machine};
    cpu::CpuDense cpu{machine};
};

} // namespace headscope::checkpoint
