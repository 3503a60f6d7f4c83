#pragma once

#include <cstdint>
#include <string>

namespace headscope::cli {

struct SurveyShowOptions {
    std::string path;
    std::int64_t layer = 0, head = 0;
    bool json = false;
};

/// Prints the card of a head. Throws Error(input) with a sentence.
void show_survey(const SurveyShowOptions& options);

} // namespace headscope::cli
