#pragma once

#include "core/engine/backend_engine.h"

#include <memory>

namespace headscope::cpu {

struct Kernels;

/// Threads, scratch memory and the memory of results, shared by the engine and CpuDense.
struct CpuMachine;
/// threads: the number that work at once, started with the first large run; 0: one per core.
std::shared_ptr<CpuMachine> make_cpu_machine(int threads = 0);
/// Frees the unused memory of results, which otherwise stays cached for the next two runs. For use after a
/// large run if no similar run follows. No engine of the machine may run meanwhile.
void release_memory(CpuMachine& machine);

/// Multi-head attention with the vector instructions of the processor. Works on tiles of query rows, so that
/// no tensor of size Tq x Tk is allocated unless a stage of that size is wanted. Results do not depend on the
/// number of threads; the three sets of kernels differ by rounding.
class CpuEngine final : public engine::BackendEngine {
public:
    /// threads: the number that work at once; 0: one per core.
    explicit CpuEngine(int threads = 0);
    CpuEngine(int threads, const Kernels& kernels);
    /// Shares threads and memory with other users of that machine, one of which may run at a time.
    explicit CpuEngine(std::shared_ptr<CpuMachine> machine);
};

} // namespace headscope::cpu
