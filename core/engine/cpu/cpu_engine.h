#pragma once

#include "core/engine/engine.h"

#include <chrono>
#include <memory>

namespace headscope {

struct CpuMachine;
struct Kernels;

/// Multi-head attention with the vector instructions of the processor. Works on tiles of query rows, so that
/// nothing of size Tq x Tk is held unless a stage of that size is wanted. Results do not depend on the number
/// of threads; the three sets of kernels differ by rounding.
class CpuEngine : public Engine {
public:
    /// threads: how many work at once; 0: one per core.
    explicit CpuEngine(int threads = 0);
    CpuEngine(int threads, const Kernels& kernels);
    ~CpuEngine() override;

    std::string name() const override { return "cpu"; }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    Trace finish(Trace trace, std::chrono::steady_clock::time_point start);
    std::unique_ptr<CpuMachine> machine_;
};

} // namespace headscope
