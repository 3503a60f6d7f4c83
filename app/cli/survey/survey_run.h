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

/// Computes the remaining work of this process in a survey. Throws Error(input), and Error(cancelled) if the
/// user stopped it, with instructions to continue.
void run_survey(const SurveyOptions& options);

} // namespace headscope::cli
