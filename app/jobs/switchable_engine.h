#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headscope::app {

/// How an engine is made from an id, as make_engine does it.
using EngineMaker = std::function<std::unique_ptr<engine::Engine>(const std::string& id)>;

/// Whichever engine was chosen last, made at the next run on the thread that runs it. When it cannot be made,
/// or the machine fails it in a run, the CPU does the run and all that follow until somebody chooses again.
/// choose() and notice() are for any thread.
class SwitchableEngine : public engine::Engine {
public:
    explicit SwitchableEngine(std::string id, EngineMaker make = engine::make_engine);

    void choose(const std::string& id);
    /// Why the CPU stands in for what was chosen, in one sentence; empty when it does not.
    std::string notice() const;

    /// Of what was chosen: "auto", "cpu", "vulkan:0".
    std::string name() const override;
    using engine::Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    /// From scratch where another engine made the previous trace.
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    /// On the chosen engine, and on the CPU where the machine fails that.
    Trace compute(const std::function<Trace(engine::Engine&)>& call);
    engine::Engine& chosen_engine();
    void fall_back(const std::string& id, const std::string& sentence);

    EngineMaker make_;
    std::unique_ptr<engine::Engine> engine_; ///< the worker's alone
    mutable std::mutex mutex_;
    std::string chosen_;
    bool changed_ = true; ///< what was chosen is not made yet
    std::string notice_;
};

} // namespace headscope::app
