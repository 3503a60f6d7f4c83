#pragma once

#include "app/views/surface.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace headscope::app {

/// What runs inside the shell: the whole program's user interface, with no knowledge of windows or GL.
class Ui {
public:
    Ui() = default;
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;
    virtual ~Ui() = default;

    /// Builds one frame between ImGui::NewFrame and ImGui::Render. `now` counts seconds from program start.
    virtual void frame(Surface& surface, double now) = 0;
    /// Called after a frame that will be shown. Waits for what the frame's input asked to be computed; true
    /// when it is there: the same frame, built again, shows it.
    virtual bool catch_up(std::chrono::milliseconds /*at_most*/) { return false; }
    /// Whether another frame must follow at once (an animation runs, a job is out, text is being edited).
    virtual bool animating() const = 0;
    /// The user's zoom (Ctrl +/-), 1 to 2, and the colour that the window is cleared to.
    virtual float zoom() const = 0;
    virtual figure::Color background() const = 0;
    virtual std::string title() const = 0;
    /// Whether the window is to fill the screen.
    virtual bool full_screen() const { return false; }
    /// Whether what is on screen stays there in place of the frame that was built last: what belongs in it is
    /// being computed.
    virtual bool keeps_picture() const { return false; }
    /// When the next frame is due although nothing else happens, on the clock of frame(): what was said goes
    /// then.
    virtual double wakes_at() const { return std::numeric_limits<double>::infinity(); }
    /// Set once when the user asked to quit.
    virtual bool quitting() const = 0;
    /// The window was asked to close: quitting() follows, at once or after a question.
    virtual void close() {}
};

} // namespace headscope::app
