#pragma once

#include "core/analysis/prompts/prompt_set.h"

#include <functional>
#include <string>

namespace headscope::cli {

struct PromptResults;

/// A command that runs on a set of prompts.
struct PromptRun {
    const analysis::PromptSet& set;
    std::string out = "-";   ///< the file to write; "-": standard output
    std::string computation; ///< see computation_text
    /// Returns the result for a prompt as one line of JSON: what the command prints for it alone. Throws
    /// Error(input) if the prompt cannot be used.
    std::function<std::string(const analysis::Prompt&)> compute;
    /// True: `compute` may run on several threads at once, which pays off for a small model.
    bool parallel = false;
    /// Returns the text for standard output; absent: JSON.
    std::function<std::string(const PromptResults&)> as_text = {};
};

/// Computes all prompts and writes their results, with mean and spread, in the format of the ending of `out`.
/// With a file, a stopped run continues when it is started again, and processes that mpirun or srun started
/// share the prompts. Lines that cannot be used are named on standard error. Throws Error(input) if no line
/// can be used, Error(machine) for the first line that the machine cannot compute, and Error(cancelled) if
/// the user stopped it.
void run_prompts(const PromptRun& run);

} // namespace headscope::cli
