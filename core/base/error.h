#pragma once

#include <stdexcept>
#include <string>

namespace headscope {

/// The cause of an error. The command line maps each kind to an exit code.
enum class ErrorKind {
    input,    ///< the user's input is wrong (exit code 1)
    usage,    ///< the call is wrong (exit code 2)
    machine,  ///< the machine lacks something that the user asked for (exit code 3)
    internal, ///< the program is wrong (exit code 4)
    cancelled ///< the user asked to stop; never shown as an error
};

/// One sentence that names the thing, what it has, what it should have and what to do. Thrown where the fault
/// is seen; caught once, at the job boundary or in main. Names from files may be long and hold anything:
/// U+FFFD stands in place of control characters, and what() has at most 2,000 bytes, without the middle of a
/// longer sentence.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& sentence);
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// Throws the most common error: the input is wrong.
[[noreturn]] inline void fail_input(const std::string& sentence) {
    throw Error(ErrorKind::input, sentence);
}

} // namespace headscope
