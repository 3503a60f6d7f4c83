#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <optional>

namespace headscope::engine {

/// Work of one run from which `auto` takes a graphics processor. A run costs one about a millisecond whatever
/// its size (copies in and out, submissions), and opening it costs more once; a few CPU cores do this much in
/// about five.
inline constexpr double worth_a_gpu = 2e9;

/// The CPU engine for small work and, once there is large work, a graphics processor if there is one. A
/// processor that fails is let go of, and its run done on the CPU.
class AutoEngine : public Engine {
public:
    /// gpu: null where there is no real one; called at the first large run. May throw Error(machine).
    AutoEngine(std::unique_ptr<Engine> cpu, std::function<std::unique_ptr<Engine>()> gpu);

    /// Of the engine that ran last.
    std::string name() const override { return used_->name(); }
    using Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    Engine* gpu();
    /// The run on a graphics processor where it is large and there is one that works; else nothing.
    std::optional<Trace> run_large(const Problem& problem, StageSet wanted, Progress& progress);

    std::unique_ptr<Engine> cpu_, gpu_;
    std::function<std::unique_ptr<Engine>()> make_gpu_; ///< empty once it was called
    Engine* used_;
};

} // namespace headscope::engine
