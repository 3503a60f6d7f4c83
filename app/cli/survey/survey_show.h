#pragma once

#include <cstdint>
#include <string>

namespace headscope::cli {

struct SurveyShowOptions {
    std::string path;
    std::int64_t layer = 0, head = 0;
    bool json = false;
};

/// Prints the survey results of a head. Throws Error(input).
void show_survey(const SurveyShowOptions& options);

} // namespace headscope::cli
