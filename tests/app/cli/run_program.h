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

/// Where standard output goes instead of ProgramRun::out, and what the program may write.
struct ProgramSurroundings {
    std::string out_path = {};     ///< such as /dev/full; empty: not elsewhere
    std::uint64_t most_bytes = 0;  ///< of any file that it writes; 0: no limit
    std::uint64_t most_memory = 0; ///< bytes of addresses; 0, or under a sanitizer: no limit
};

/// Runs the built program as a user would. Waits for its end.
ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                       const std::map<std::string, std::string>& environment = {},
                       const ProgramSurroundings& surroundings = {});

} // namespace headscope::test
