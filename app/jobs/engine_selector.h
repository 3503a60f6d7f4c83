#pragma once

#include "app/jobs/derived.h"
#include "app/jobs/switchable_engine.h"
#include "app/state/document.h"
#include "app/state/engine_state.h"

#include <functional>
#include <memory>

namespace headscope::app {

/// Service for the choice of engine in the window: lists devices, switches the runner's engine, compares
/// engines and checks the numbers of checkpoints, all off the thread that draws. Used by that thread.
class EngineSelector {
public:
    explicit EngineSelector(const std::string& id, EngineMaker make = engine::make_engine,
                            std::function<engine::DeviceList()> list_devices = engine::devices);

    /// Returns the engine for the Runner; call once. The engine must be destroyed before this object.
    std::unique_ptr<engine::Engine> engine();
    /// Handles a request. Returns true if the document must be computed again.
    bool act(const EngineAction& action, const DocumentPtr& document);
    /// Updates `state` with finished results. Returns true if a check of a checkpoint has just ended.
    bool poll();
    /// Returns true if background work is in progress.
    bool busy() const { return state_.listing || state_.comparing || state_.checking; }
    const EngineState& state() const { return state_; }

private:
    EngineMaker make_;
    std::function<engine::DeviceList()> list_devices_;
    EngineState state_;
    std::unique_ptr<SwitchableEngine> made_; ///< until the Runner takes it
    SwitchableEngine* engine_;
    void start_check(const checkpoint::TextModelPtr& model);
    /// Drops all values except the devices and those in progress: they keep documents and checkpoints alive.
    void drop_others();

    DerivedKey comparing_; ///< the document of the comparison in progress
    DerivedKey checking_;  ///< the checkpoint of the check in progress
    DerivedValues values_; ///< the devices of this machine, and the results
};

} // namespace headscope::app
