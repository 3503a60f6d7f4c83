#pragma once

#include "core/base/error.h"

#include <functional>

namespace CLI {
class App;
}

namespace headscope::cli {

/// The exit code of a program that ends with an error of this kind.
int exit_code(ErrorKind kind);

/// Runs the whole program: parses the arguments, runs the subcommand or opens the window. Returns the exit
/// code: 0 (done), 1 (invalid input), 2 (wrong usage), 3 (the machine lacks something), 4 (internal error).
int run_command_line(int argc, char** argv);

/// The same for a program with its own options: `add` adds its options and subcommands, and returns the
/// function for a call without a subcommand. Both may throw Error.
int run_command_line(CLI::App& program, const std::function<std::function<int()>(CLI::App&)>& add, int argc,
                     char** argv);

} // namespace headscope::cli
