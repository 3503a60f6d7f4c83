#pragma once

#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

namespace headscope::cli {

/// Prints a text on std::cerr as a whole: for work on several threads, also while it is collected. Any
/// thread.
void print_error_text(const std::string& text);

/// During its lifetime, collects what a command of this process prints: bytes on standard output, by any
/// means, and text on std::cerr. One at a time; other threads may print only with print_error_text.
class CapturedOutput {
public:
    /// Throws Error(machine) if the system has no memory or descriptors for it.
    CapturedOutput();
    ~CapturedOutput();
    CapturedOutput(const CapturedOutput&) = delete;
    CapturedOutput& operator=(const CapturedOutput&) = delete;

    /// All bytes on standard output so far.
    std::string printed() const;
    /// The lines on std::cerr so far, without the program's name.
    std::vector<std::string> messages() const;

private:
    int memory_, output_;
    std::ostringstream errors_;
    std::streambuf* previous_;
};

} // namespace headscope::cli
