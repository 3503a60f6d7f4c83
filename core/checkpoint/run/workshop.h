#pragma once

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/dense.h"

#include <memory>
#include <mutex>

namespace headscope::checkpoint {

/// Threads and memory of the processor: for one thread at a time, who locks `mutex`. Runs that follow each
/// other share one, and with it the memory it keeps.
struct Workshop {
    std::mutex mutex;
    std::shared_ptr<cpu::CpuMachine> machine = cpu::make_cpu_machine();
    cpu::CpuEngine engine{machine};
    cpu::CpuDense cpu{machine};
};

} // namespace headscope::checkpoint
