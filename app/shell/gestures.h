#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

namespace headscope::app {

/// What the mouse and the wheel do over several frames: which frames are one gesture, and numbers that are
/// dragged sideways. For one thread.
class Gestures {
public:
    /// Begins a frame at `now`, in seconds. True when the gesture before is over: nothing is held, typed or
    /// turned.
    bool begin_frame(ViewState& view, double now) const;
    /// The wheel over a number: see handle_wheel().
    void wheel(AppState& state, bool page_scrolls, const Sink& send, double now);
    /// Moves the number that is dragged. True when it is let go.
    static bool drag_number(AppState& state, float scale, const Sink& send);

private:
    double wheel_turned_ = -1; ///< when it last changed a number
};

} // namespace headscope::app
