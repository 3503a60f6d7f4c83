#pragma once

#include "app/shell/control/control_socket.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

class Program;

/// Performs the request in one line and returns its answer: both JSON, described in
/// assets/manual/automation.md. Nothing: the answer is not ready before a later frame. `scale`: pixels per
/// logical pixel, for the report.
std::optional<std::string> answer_line(Program& program, const std::string& line, float scale);

/// Lets another program control the window: handles the requests of a socket between frames.
class Control {
public:
    /// Throws what ControlSocket throws.
    Control(Program& program, const std::string& socket, const std::function<void()>& wake);
    /// Call after each frame.
    void follow(float scale);

private:
    Program& program_;
    std::function<void()> wake_;
    ControlSocket socket_;
    std::vector<ControlLine> waiting_; ///< pending, in the order of arrival
};

} // namespace headscope::app
