#pragma once

#include <stdexcept>
#include <string>

namespace headscope {

/// Whose fault an error is. The command line maps each to an exit code.
enum class ErrorKind {
    input,    ///< what the user gave is at fault (exit code 1)
    usage,    ///< the call itself is at fault (exit code 2)
    machine,  ///< the machine lacks something that was demanded (exit code 3)
    internal, ///< our own fault (exit code 4)
    cancelled ///< the user asked to stop; never shown as an error
};

/// One sentence that names the thing, what it has, what it should have and what to do.
/// Thrown where the fault is seen; caught once, at the job boundary or in main.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// Shorthand for the commonest case: the input is at fault.
[[noreturn]] inline void fail_input(const std::string& sentence) {
    throw Error(ErrorKind::input, sentence);
}

} // namespace headscope
