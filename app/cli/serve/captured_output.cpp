#include "app/cli/serve/captured_output.h"

#include "core/base/error.h"
#include "core/base/system_reason.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <iostream>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace headscope::cli {

void print_error_text(const std::string& text) {
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    std::cerr << text << std::flush;
}

CapturedOutput::CapturedOutput()
    : memory_(::memfd_create("headscope", MFD_CLOEXEC)), output_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
      previous_(nullptr) {
    std::cout.flush();
    if (memory_ < 0 || output_ < 0 || ::dup2(memory_, STDOUT_FILENO) < 0) {
        const std::string reason = system_reason(errno);
        for (const int opened : {memory_, output_})
            if (opened >= 0)
                ::close(opened);
        throw Error(ErrorKind::machine,
                    "cannot collect the output of a command: " + reason + "; close other programs");
    }
    previous_ = std::cerr.rdbuf(errors_.rdbuf());
}

CapturedOutput::~CapturedOutput() {
    std::cout.flush();
    std::cerr.rdbuf(previous_);
    ::dup2(output_, STDOUT_FILENO);
    ::close(output_);
    ::close(memory_);
}

std::string CapturedOutput::printed() const {
    std::cout.flush();
    std::string bytes;
    std::array<char, 1U << 16U> part{};
    for (off_t at = 0;;) {
        const ssize_t count = ::pread(memory_, part.data(), part.size(), at);
        if (count <= 0)
            return bytes;
        bytes.append(part.data(), static_cast<std::size_t>(count));
        at += count;
    }
}

std::vector<std::string> CapturedOutput::messages() const {
    constexpr std::string_view name = "headscope: ";
    std::vector<std::string> lines;
    std::istringstream text(errors_.str());
    for (std::string line; std::getline(text, line);)
        lines.push_back(line.starts_with(name) ? line.substr(name.size()) : line);
    return lines;
}

} // namespace headscope::cli
