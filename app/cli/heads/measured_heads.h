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

/// What `headscope heads` measures.
struct HeadsInput {
    ProblemOptions problem;
    ModelOptions model;
    std::optional<std::string> attention; ///< the path of a file of weights
    bool hide_first = false;              ///< measure without the first token's column
    bool probe = false;                   ///< of random tokens, in place of a text
    analysis::ProbeOptions probe_options;
    std::optional<std::int64_t> position; ///< for the effect; none: the last
    analysis::NeedleOptions needle;       ///< for retrieval
};

/// One row a head, with the wanted scores that the input can give, and others that cost nothing. Throws
/// Error(usage) when the options contradict each other, Error(input) when their values are at fault.
std::vector<MeasuredHead> measured_heads(const HeadsInput& input, const Scores& wanted);

} // namespace headscope::cli
