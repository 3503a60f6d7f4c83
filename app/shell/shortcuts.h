#pragma once

#include "app/commands/keys.h"
#include "app/commands/situation.h"
#include "app/views/state.h"

namespace headscope::app {

/// Whether a key went down in this frame, or with `repeat` is held and repeats; the keypad's counts too.
bool pressed(Key key, bool repeat = false);

/// What the window knows beside the state.
struct WindowNow {
    bool left_open, inspector_open;
    bool walking;  ///< Tab has reached a control
    bool stepping; ///< and arrow keys move it
};

/// What actions are chosen by in this frame, but for what lies over the canvas.
Situation situation(const AppState& state, const WindowNow& window);

/// Turns the key presses of this frame into what the table of actions says they mean. Call once a frame.
void handle_shortcuts(const AppState& state, Situation now, const Sink& send);

/// Does to the window what was asked for: the controls that Tab walks over, and what the next frame's views
/// are asked to open or to give the keyboard to.
/// `canvas`: as it was last drawn, in logical pixels of the window.
void apply(AppState& state, FocusRing& focus, const Picture& canvas, const WindowAction& action);

} // namespace headscope::app
