#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace headscope::cli {

/// The lines of standard input and of standard output, kept apart from what commands read and print: after
/// construction, standard input of the process is empty.
class RequestLines {
public:
    static constexpr std::size_t longest_line = std::size_t{16} << 20U; ///< bytes

    /// Throws Error(machine) without a standard input or output. From then on, the process ends with code 0
    /// as soon as nobody reads standard output: a client that was killed leaves no program.
    RequestLines();
    ~RequestLines();
    RequestLines(const RequestLines&) = delete;
    RequestLines& operator=(const RequestLines&) = delete;

    /// Waits for the next line. Nothing at the end of the input. Longer lines are cut after longest_line + 1
    /// bytes.
    std::optional<std::string> next();
    /// Writes a line. Returns false if nobody reads it.
    bool write(const std::string& line) const;

private:
    int in_ = -1, out_ = -1;
    std::string read_; ///< bytes after the last line
};

} // namespace headscope::cli
