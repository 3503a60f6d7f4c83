#pragma once

#include <map>
#include <string>
#include <vector>

namespace headscope::test {

struct ProgramRun {
    int code = -1; ///< exit code; 128 + signal when it was killed
    std::string out;
    std::string err;
};

/// Runs the built program as a user would. Waits for its end.
ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                       const std::map<std::string, std::string>& environment = {});

} // namespace headscope::test
