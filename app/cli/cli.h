#pragma once

namespace headscope::cli {

/// The whole program: parses the arguments, runs the sub-command or opens the window, and returns the exit
/// code: 0 (done), 1 (input at fault), 2 (wrong usage), 3 (the machine lacks something), 4 (internal fault).
int run_command_line(int argc, char** argv);

} // namespace headscope::cli
