#pragma once

#include "app/views/surface.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace headscope::app {

/// The user interface inside the shell, independent of window system and GL.
class Ui {
public:
    Ui() = default;
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;
    virtual ~Ui() = default;

    /// Builds one frame between ImGui::NewFrame and ImGui::Render. `now` counts seconds from program start.
    virtual void frame(Surface& surface, double now) = 0;
    /// Called after a frame that will be shown. Waits for computations that the frame's input started.
    /// Returns true if they are finished: the same frame, built again, shows the results.
    virtual bool wait_for_results(std::chrono::milliseconds /*at_most*/) { return false; }
    /// Returns true if another frame must follow at once (an animation, a job or text input is active).
    virtual bool animating() const = 0;
    /// The user's zoom (Ctrl +/-), 1 to 2, and the background color of the window.
    virtual float zoom() const = 0;
    virtual figure::Color background() const = 0;
    virtual std::string title() const = 0;
    /// Returns true if the window should be full screen.
    virtual bool full_screen() const { return false; }
    /// Returns true if the picture on screen should stay in place of the frame that was built last, whose
    /// content is still being computed.
    virtual bool keeps_previous_frame() const { return false; }
    /// Returns the time of the next frame if nothing else happens, on the clock of frame(), for example to
    /// remove a notice.
    virtual double next_frame_at() const { return std::numeric_limits<double>::infinity(); }
    /// Returns true after the user asked to quit.
    virtual bool quitting() const = 0;
    /// Called when the window should close: quitting() follows, at once or after a question.
    virtual void close() {}
};

} // namespace headscope::app
