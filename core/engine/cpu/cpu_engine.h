#pragma once

#include "core/engine/engine.h"

#include <chrono>
#include <memory>

namespace headscope::cpu {

struct Kernels;
class KeyValueCache;

/// Threads, scratch memory and the memory of results, as the engine and CpuDense share it.
struct CpuMachine;
/// threads: how many work at once, which start with the first large run; 0: one per core.
std::shared_ptr<CpuMachine> make_cpu_machine(int threads = 0);
/// Frees the memory of results that nobody holds any more, which otherwise waits for the next two runs. For
/// after a large run that none like it follows. While no engine of the machine runs.
void release_memory(CpuMachine& machine);

/// Multi-head attention with the vector instructions of the processor. Works on tiles of query rows, so that
/// nothing of size Tq x Tk is held unless a stage of that size is wanted. Results do not depend on the number
/// of threads; the three sets of kernels differ by rounding.
class CpuEngine : public engine::Engine {
public:
    /// threads: how many work at once; 0: one per core.
    explicit CpuEngine(int threads = 0);
    CpuEngine(int threads, const Kernels& kernels);
    /// Shares threads and memory with others of that machine, one of which runs at a time.
    explicit CpuEngine(std::shared_ptr<CpuMachine> machine);
    ~CpuEngine() override;

    std::string name() const override { return "cpu"; }
    using engine::Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;
    /// The tokens that follow those in `cache`: problem.x has them alone, dims.Tk counts all. Appends their
    /// keys and values to `cache`, which earlier calls with the same weights filled. The numbers are the rows
    /// that one run over all tokens would have, bit for bit; of k, v, k_heads and v_heads the trace has the
    /// new rows alone. In cross-attention the first call reads x_kv, whose keys and values the later ones
    /// find in `cache`; those then have no k, v, k_heads and v_heads. Throws like run, and leaves `cache` as
    /// it was.
    Trace extend(const Problem& problem, KeyValueCache& cache, StageSet wanted, Progress& progress);

private:
    Trace finish(Trace trace, std::chrono::steady_clock::time_point start);
    std::shared_ptr<CpuMachine> machine_;
};

} // namespace headscope::cpu
