#include "app/cli/serve/request_lines.h"

#include "core/base/error.h"
#include "core/base/system_reason.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace headscope::cli {

namespace {

/// Ends the process when the reader of a pipe is gone, even in the middle of a command.
void end_without_reader(int out) {
    pollfd watched{.fd = out, .events = 0, .revents = 0};
    while (::poll(&watched, 1, -1) < 0 && errno == EINTR) {
    }
    if ((watched.revents & POLLERR) != 0)
        std::_Exit(0);
}

} // namespace

RequestLines::RequestLines()
    : in_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in_ < 0 || out_ < 0 || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0)
        throw Error(ErrorKind::machine, "cannot read requests: " + system_reason(errno) +
                                            "; give the program a standard input and output");
    ::close(nothing);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread([out = out_] { end_without_reader(out); }).detach();
}

// The descriptors stay open until the process ends: the thread still watches one of them.
RequestLines::~RequestLines() = default;

std::optional<std::string> RequestLines::next() {
    std::array<char, 1U << 16U> part{};
    std::size_t seen = 0;
    for (;;) {
        const std::size_t end = read_.find('\n', seen);
        if (end != std::string::npos) {
            std::string line = read_.substr(0, std::min(end, longest_line + 1));
            read_.erase(0, end + 1);
            return line;
        }
        if (read_.size() > longest_line)
            read_.resize(longest_line + 1);
        seen = read_.size();
        const ssize_t count = ::read(in_, part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            std::string last = std::move(read_);
            read_.clear();
            return last.empty() ? std::nullopt : std::optional(last);
        }
        read_.append(part.data(), static_cast<std::size_t>(count));
    }
}

bool RequestLines::write(const std::string& line) const {
    const std::string whole = line + "\n";
    for (std::size_t at = 0; at < whole.size();) {
        const ssize_t count = ::write(out_, whole.data() + at, whole.size() - at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        at += static_cast<std::size_t>(count);
    }
    return true;
}

} // namespace headscope::cli
