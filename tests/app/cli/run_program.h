#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headscope::test {

struct ProgramRun {
    int code = -1; ///< exit code; 128 + signal when it was killed
    std::string out;
    std::string err;
};

/// The destination of standard output in place of ProgramRun::out, and limits of the program.
struct ProgramSurroundings {
    std::string out_path = {};     ///< such as /dev/full; empty: ProgramRun::out
    std::uint64_t most_bytes = 0;  ///< largest size of a file that it writes; 0: no limit
    std::uint64_t most_memory = 0; ///< bytes of address space; 0, or with a sanitizer: no limit
};

/// Runs the built program as a user would. Waits until it ends.
ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                       const std::map<std::string, std::string>& environment = {},
                       const ProgramSurroundings& surroundings = {});

} // namespace headscope::test
