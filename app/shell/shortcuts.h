#pragma once

#include "app/commands/action_context.h"
#include "app/commands/keys.h"
#include "app/views/state.h"

namespace headscope::app {

/// Returns true if a key, or its keypad equivalent, went down in this frame or, with `repeat`, is held and
/// repeats.
bool pressed(Key key, bool repeat = false);

/// Window state that is not part of AppState.
struct WindowNow {
    bool left_open, inspector_open;
    bool has_tab_focus; ///< a control has Tab focus
    bool stepping;      ///< and arrow keys move it
};

/// Returns the context of this frame, except for the element that covers the canvas.
ActionContext action_context(const AppState& state, const WindowNow& window);

/// Sends the actions for the key presses of this frame. Call once per frame.
void handle_shortcuts(const AppState& state, ActionContext now, const Sink& send);

/// Performs a window action: moves Tab focus, or asks the views of the next frame to open something or to
/// take the keyboard focus. `canvas`: as last drawn, in logical pixels of the window.
void apply(AppState& state, FocusRing& focus, const Picture& canvas, const WindowAction& action);

} // namespace headscope::app
