#pragma once

#include <stdexcept>
#include <string>

namespace headscope {

/// The cause of an error. The command line maps each kind to an exit code.
enum class ErrorKind {
    input,    ///< the user's input is invalid (exit code 1)
    usage,    ///< the command-line call is invalid (exit code 2)
    machine,  ///< the machine lacks something that the user asked for (exit code 3)
    internal, ///< a bug in the program (exit code 4)
    cancelled ///< the user asked to stop; never shown as an error
};

/// One sentence that names the object, its value, the expected value and the remedy. Thrown where the fault
/// is detected; caught once, at the job boundary or in main. Names from files may be long and contain any
/// bytes: what() replaces control characters by U+FFFD and cuts the middle out of a sentence longer than
/// 2,000 bytes.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& sentence);
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// Throws the most common error, invalid input.
[[noreturn]] inline void fail_input(const std::string& sentence) {
    throw Error(ErrorKind::input, sentence);
}

} // namespace headscope
