#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// A line from outside, and who waits for its answer.
struct ControlLine {
    std::uint64_t from = 0;
    std::string text; ///< without its line end
};

/// A local socket that takes lines and sends answers. Only its user may open it: the file has mode 0600, and
/// who connects is asked. A thread of its own reads; the file goes with the object.
class ControlSocket {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20U;

    /// `wake`: called from the thread when there are lines to take. A socket that a program left behind is
    /// replaced. Throws Error(input) for a path that another program listens at, that is another kind of
    /// file, or that cannot be made.
    ControlSocket(const std::string& path, std::function<void()> wake);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    /// The lines that came since the last call, in their order.
    std::vector<ControlLine> take();
    /// Sends a line; nothing when that one is gone.
    void answer(std::uint64_t to, const std::string& line);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headscope::app
