#pragma once

#include "app/session/workspace.h"
#include "app/views/state.h"

#include <limits>

namespace headscope::app {

/// Keeps AppState::earlier: the state before the last step of the history, while charts show it. For one
/// thread.
class StepBefore {
public:
    StepBefore(AppState& state, const Workspace& workspace) : state_(state), workspace_(workspace) {}

    /// Called when another trace is on screen instead of `before`.
    void replaced(const Shown& before);
    /// `held`: the mouse button is down. Returns true while the picture before the step fades out.
    bool advance(double now, double seconds_since_last, bool held);
    /// Seconds from program start at which it begins to fade out; infinity: it does not.
    double fades_at() const { return state_.earlier.strength < 1 ? never : shown_until_; }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    AppState& state_;
    const Workspace& workspace_;
    double shown_until_ = never;
    bool renewed_ = false; ///< a step was made or continued since the last frame
};

} // namespace headscope::app
