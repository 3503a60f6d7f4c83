#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// A line from outside, and the client that waits for its answer.
struct ControlLine {
    std::uint64_t from = 0;
    std::string text;      ///< without its line end
    bool too_long = false; ///< `text` is empty: the line had more than longest_line bytes
};

/// A local socket that takes lines and sends answers. Only its user may open it: the file has mode 0600, and
/// the user of each client is checked. The file is removed with the object, or by a signal that ends the
/// program (SIGINT, SIGTERM, SIGHUP).
///
/// A thread of its own reads and writes, so no client can make the window wait. A client that does not read
/// its answers is not read from either, once it has `most_waiting` lines or `most_unsent` bytes to wait for;
/// it therefore never takes more memory than these, one line and one answer.
class ControlSocket {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20U, most_waiting = 64,
                                 most_unsent = std::size_t{1} << 20U;

    /// `wake`: called from the thread when there are lines to take, or a client is no longer slow. A socket
    /// that an ended program left is replaced. Throws Error(input) for a path that another program listens
    /// at, that is another kind of file, or that cannot be made.
    ControlSocket(const std::string& path, std::function<void()> wake);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    /// The lines that came since the last call, in their order.
    std::vector<ControlLine> take();
    /// Returns true while a client has more than `most_unsent` bytes of answers to read. Its next line should
    /// wait.
    bool is_slow(std::uint64_t client) const;
    /// Sends the answer to a client's oldest line that has none. Never blocks. Nothing happens when the
    /// client is gone.
    void answer(std::uint64_t to, std::string line);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headscope::app
