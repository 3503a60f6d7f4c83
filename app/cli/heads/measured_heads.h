#pragma once

#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "core/analysis/heads/model_heads.h"
#include "core/analysis/heads/probe.h"
#include "core/analysis/heads/retrieval.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::cli {

using Scores = std::vector<const analysis::HeadScoreInfo*>;
bool wants(const Scores& wanted, analysis::HeadScore score);

using analysis::MeasuredHead;

/// The input of `headscope heads`.
struct HeadsInput {
    ProblemOptions problem;
    ModelOptions model;
    std::optional<std::string> attention; ///< path of a file of weights
    bool hide_first = false;              ///< measure without the first token's column
    bool probe = false;                   ///< measure on random tokens instead of a text
    analysis::ProbeOptions probe_options;
    std::optional<std::int64_t> position; ///< for the effect; none: the last position
    analysis::NeedleOptions needle;       ///< for retrieval
};

/// Returns one row per head, with the wanted scores that the input can give, and others that cost nothing.
/// Throws Error(usage) if the options contradict each other, Error(input) if their values are invalid.
std::vector<MeasuredHead> measured_heads(const HeadsInput& input, const Scores& wanted);

} // namespace headscope::cli
