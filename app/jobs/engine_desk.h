#pragma once

#include "app/jobs/derived.h"
#include "app/jobs/switchable_engine.h"
#include "app/state/document.h"
#include "app/state/engine_state.h"

#include <functional>
#include <memory>

namespace headscope::app {

/// The choice of engine in the window: looks for devices, switches the runner's engine and compares engines,
/// all off the thread that draws. Used by that thread.
class EngineDesk {
public:
    explicit EngineDesk(const std::string& id, EngineMaker make = engine::make_engine,
                        std::function<engine::DeviceList()> look = engine::devices);

    /// The engine for the Runner, once. It has to go before this.
    std::unique_ptr<engine::Engine> engine();
    /// Does what was asked for. True when the document has to be computed again.
    bool act(const EngineAction& action, const DocumentPtr& document);
    /// Brings `state` up to date with what is finished.
    void poll();
    /// Something is under way in the background.
    bool busy() const { return state_.looking || state_.comparing; }
    const EngineState& state() const { return state_; }

private:
    EngineMaker make_;
    std::function<engine::DeviceList()> look_;
    EngineState state_;
    std::unique_ptr<SwitchableEngine> made_; ///< until the Runner has it
    SwitchableEngine* engine_;
    DerivedKey comparing_; ///< the document that is compared, while it is
    DerivedValues values_; ///< the devices of this machine, and the comparison
};

} // namespace headscope::app
