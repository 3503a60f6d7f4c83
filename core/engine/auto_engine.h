#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <optional>

namespace headscope::engine {

/// Work of one run, in FLOP, from which `auto` uses a graphics processor. A run on one has about a
/// millisecond of overhead regardless of its size (copies, submissions), and opening it costs more once; a
/// few CPU cores do this much work in about five milliseconds.
inline constexpr double min_gpu_flops = 2e9;

/// Uses the CPU engine for small work and, from the first large run on, a graphics processor if there is one.
/// If the graphics processor fails, releases it and repeats the run on the CPU.
class AutoEngine : public Engine {
public:
    /// `gpu` creates the graphics processor's engine, or returns null if there is none. Called at the first
    /// large run. May throw Error(machine).
    AutoEngine(std::unique_ptr<Engine> cpu, std::function<std::unique_ptr<Engine>()> gpu);

    /// The name of the engine that ran last.
    std::string name() const override { return used_->name(); }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    Engine* gpu();
    /// Runs a large problem on a working graphics processor. Returns nothing if the problem is small or there
    /// is no such processor.
    std::optional<Trace> run_large(const Problem& problem, StageSet wanted, Progress& progress);

    std::unique_ptr<Engine> cpu_, gpu_;
    std::function<std::unique_ptr<Engine>()> make_gpu_; ///< empty after its only call
    Engine* used_;
};

} // namespace headscope::engine
