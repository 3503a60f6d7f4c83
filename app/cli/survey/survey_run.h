#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::cli {

struct SurveyOptions {
    std::string model, texts, out;
    std::int64_t length = 256;
    std::optional<std::int64_t> limit;
};

/// Computes this process's share of a survey, or what is left of it. Throws Error(input) with a sentence, and
/// Error(cancelled) when the user stopped it, with what to do to go on.
void run_survey(const SurveyOptions& options);

} // namespace headscope::cli
