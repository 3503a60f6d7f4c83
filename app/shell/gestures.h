#pragma once

#include "app/views/state.h"
#include "app/views/widgets.h"

#include <optional>

namespace headscope::app {

/// Mouse and wheel interactions that span several frames: the extent of a gesture, numbers that are dragged,
/// and whether the mouse is at rest. For one thread.
class Gestures {
public:
    /// Begins a frame at `now`, in seconds; scale: physical pixels per logical pixel. Returns true if the
    /// previous gesture has ended: no button is held, nothing is typed, the wheel is at rest.
    bool begin_frame(ViewState& view, float scale, double now);
    /// The wheel over a number: see handle_wheel().
    void wheel(AppState& state, bool page_scrolls, const Sink& send, double now);
    /// Moves the number that is dragged. Returns true if it was released.
    bool drag_number(AppState& state, float scale, const Sink& send);
    /// Returns the cell under the mouse. None while the mouse is at rest: since its last move, a key or the
    /// end of a drag has selected a cell, which has priority.
    std::optional<CellAddress> pointed(const std::optional<CellAddress>& under_mouse);

private:
    void follow_rest(ViewState& view, float scale);

    double wheel_turned_ = -1; ///< last time the wheel changed a number
    bool rests_ = false;
    std::optional<figure::Point> rests_at_; ///< logical pixels; empty: the position in the next frame
    std::optional<CellAddress> selected_, under_mouse_; ///< of the previous frame
};

} // namespace headscope::app
