#pragma once

#include "app/shell/ui.h"

#include <functional>
#include <string>
#include <vector>

namespace headscope::app {

struct WindowOptions {
    /// Paths of files dropped on the window.
    std::function<void(const std::vector<std::string>& paths)> on_drop;
    /// Called once, when the first frame is on screen, with the milliseconds since the process started (the
    /// kernel counts process starts in steps of 10).
    std::function<void(double milliseconds)> on_first_frame;
    /// Called before every frame: returns a character that the window treats as typed; 0: none.
    std::function<char32_t()> typed;
    /// Called after every frame with the physical pixels per logical pixel.
    std::function<void(float scale)> on_frame;
    /// Called half a second after the last event, to save state that a kill must not lose.
    std::function<void()> on_pause;
};

/// Opens the window, runs the Ui in it until the user closes it or the Ui quits, and returns 0. Draws frames
/// only after input, while the Ui is animating or after wake_window(). Call from the main thread, at most
/// once at a time. Throws Error(machine) without a display or without OpenGL 3.3.
int run_window(Ui& ui, const WindowOptions& options = {});

/// Makes the open window draw soon, for example because a job has finished. Thread-safe; no effect without a
/// window.
void wake_window();

/// Seconds since the process started.
double seconds_since_start();

} // namespace headscope::app
