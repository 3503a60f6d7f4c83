#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headscope::app {

/// Creates an engine from an id, like make_engine.
using EngineMaker = std::function<std::unique_ptr<engine::Engine>(const std::string& id)>;

/// The engine that was chosen last, created at the next run on the thread of that run. If it cannot be
/// created, or the machine fails during a run, the CPU does this run and all later ones until the next
/// choice. choose() and fallback_reason() are thread-safe.
class SwitchableEngine : public engine::Engine {
public:
    explicit SwitchableEngine(std::string id, EngineMaker make = engine::make_engine);

    void choose(const std::string& id);
    /// Returns why the CPU runs instead of the chosen engine, in one sentence; empty if it does not.
    std::string fallback_reason() const;

    /// Id of the chosen device: "auto", "cpu", "vulkan:0".
    std::string name() const override;
    using engine::Engine::run;
    Trace run(const Problem& problem, StageSet wanted, Progress& progress) override;
    /// Starts from scratch if another engine made the previous trace.
    Trace rerun(const Problem& problem, const Problem& before, const Trace& previous,
                Progress& progress) override;

private:
    /// Runs on the chosen engine, and on the CPU if the machine fails.
    Trace compute(const std::function<Trace(engine::Engine&)>& call);
    engine::Engine& chosen_engine();
    void fall_back(const std::string& id, const std::string& sentence);

    EngineMaker make_;
    std::unique_ptr<engine::Engine> engine_; ///< only the worker's
    mutable std::mutex mutex_;
    std::string chosen_;
    bool changed_ = true; ///< the chosen engine has not been created yet
    std::string fallback_reason_;
};

} // namespace headscope::app
