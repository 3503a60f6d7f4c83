#pragma once

#include "app/shell/control/control_socket.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

class Program;

/// What one line asks of the program, done, and its answer: both JSON, described in
/// assets/manual/automation.md. Nothing: the answer is not ready before a later frame. `scale`: pixels per
/// logical pixel, for the report.
std::optional<std::string> answer_line(Program& program, const std::string& line, float scale);

/// Lets another program drive the window: does what comes through a socket, between two frames.
class Control {
public:
    /// Throws what ControlSocket throws.
    Control(Program& program, const std::string& socket, const std::function<void()>& wake);
    /// To be called after each frame.
    void follow(float scale);

private:
    Program& program_;
    std::function<void()> wake_;
    ControlSocket socket_;
    std::vector<ControlLine> waiting_; ///< in the order in which they came
};

} // namespace headscope::app
