#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace headscope::cli {

/// A line of a set that could not be used.
struct FailedPrompt {
    std::int64_t line = 0;
    std::string why;
};

/// The results of a command for a set of prompts, in the order of the file.
struct PromptResults {
    std::vector<std::int64_t> lines;             ///< of the prompts with a result
    std::vector<nlohmann::ordered_json> results; ///< one for each of `lines`, at least one
    std::vector<FailedPrompt> failed;
};

// Each function returns the bytes of a file.
/// {"prompts", "lines", "mean", "spread", "failed"}.
std::string results_as_json(const PromptResults& results);
/// One row for each prompt, and for the mean and the spread; if a result is a list of objects, as the heads
/// of a model are, one for each of these. Columns are the numbers that all prompts have.
std::string results_as_csv(const PromptResults& results);
/// The numbers and the lists of numbers of the results as tensors (N, ...), N prompts; with a list of heads
/// as (N, layers, H) each. In addition line (N), and mean.NAME and spread.NAME. A place without a number is
/// NaN. Metadata: "names", JSON with the names of the numbers of lists that have some. Throws Error(input) if
/// nothing has the same shape in all results.
std::string results_as_safetensors(const PromptResults& results);

} // namespace headscope::cli
