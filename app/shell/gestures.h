#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <optional>

namespace headscope::app {

/// What the mouse and the wheel do over several frames: which frames are one gesture, numbers that are
/// dragged sideways, and whether the mouse rests. For one thread.
class Gestures {
public:
    /// Begins a frame at `now`, in seconds; scale: physical pixels per logical one. True when the gesture
    /// before is over: nothing is held, typed or turned.
    bool begin_frame(ViewState& view, float scale, double now);
    /// The wheel over a number: see handle_wheel().
    void wheel(AppState& state, bool page_scrolls, const Sink& send, double now);
    /// Moves the number that is dragged. True when it is let go.
    bool drag_number(AppState& state, float scale, const Sink& send);
    /// The cell under the mouse; none while the mouse rests: a key or the end of a drag has chosen a cell
    /// since it last moved, and that one is looked at.
    std::optional<CellAddress> pointed(const std::optional<CellAddress>& under_mouse);

private:
    void follow_rest(ViewState& view, float scale);

    double wheel_turned_ = -1; ///< when it last changed a number
    bool rests_ = false;
    std::optional<figure::Point> rests_at_; ///< logical pixels; empty: where the mouse is in the next frame
    std::optional<CellAddress> selected_, under_mouse_; ///< in the frame before
};

} // namespace headscope::app
