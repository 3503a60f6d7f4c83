#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// A line from a client that waits for its answer.
struct ControlLine {
    std::uint64_t from = 0;
    std::string text;      ///< without the line end
    bool too_long = false; ///< the line had more than longest_line bytes; `text` is empty
};

/// A local socket that receives lines and sends answers. Accessible only to its user: the file has mode 0600,
/// and the user of each client is checked. The file is removed by the destructor or by a signal that ends the
/// program (SIGINT, SIGTERM, SIGHUP).
///
/// A separate thread reads and writes, so that no client can block the window. A client that does not read
/// its answers is not read from either once it has `most_waiting` pending lines or `most_unsent` unread
/// bytes; its memory is therefore limited to these, one line and one answer.
class ControlSocket {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 20U, most_waiting = 64,
                                 most_unsent = std::size_t{1} << 20U;

    /// `wake`: called from the thread when there are lines to take or a client is no longer slow. Replaces
    /// the socket of a program that has ended. Throws Error(input) if another program listens at the path, if
    /// the path is another kind of file, or if the socket cannot be created.
    ControlSocket(const std::string& path, std::function<void()> wake);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    /// Returns the lines since the last call, in order.
    std::vector<ControlLine> take();
    /// Returns true while a client has more than `most_unsent` bytes of answers to read. Its next line should
    /// then wait.
    bool is_slow(std::uint64_t client) const;
    /// Sends the answer to a client's oldest unanswered line. Never blocks. No effect if the client has
    /// disconnected.
    void answer(std::uint64_t to, std::string line);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headscope::app
