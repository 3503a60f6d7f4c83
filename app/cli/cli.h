#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headscope::cli {

/// The whole program: parses the arguments, runs the sub-command or opens the window, and returns the exit
/// code: 0 (done), 1 (input at fault), 2 (wrong usage), 3 (the machine lacks something), 4 (internal fault).
int run_command_line(int argc, char** argv);

/// The same for a program that describes itself: `add` adds its options and sub-commands, and returns what a
/// call without a sub-command does. Both may throw Error.
int run_command_line(CLI::App& program, const std::function<std::function<int()>(CLI::App&)>& add, int argc,
                     char** argv);

} // namespace headscope::cli
