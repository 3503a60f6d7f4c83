#pragma once

#include "app/cli/model_options.h"
#include "app/cli/problem_options.h"
#include "core/analysis/heads/model_heads.h"
#include "core/analysis/heads/probe.h"
#include "core/analysis/heads/retrieval.h"
#include "core/analysis/prompts/prompt_set.h"

#include <cstdint>
#include <memory>
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
    std::optional<std::int64_t> batch;    ///< of `attention`: the text; of the probe: the number of texts
    bool hide_first = false;              ///< measure without the first token's column
    bool probe = false;                   ///< measure on random tokens instead of a text
    analysis::ProbeOptions probe_options;
    std::optional<std::int64_t> position; ///< for the effect; none: the last position
    analysis::NeedleOptions needle;       ///< for retrieval
};

/// Returns one row per head, with the wanted scores that the input can give, and others that cost nothing.
/// Throws Error(usage) if the options contradict each other, Error(input) if their values are invalid.
std::vector<MeasuredHead> measured_heads(const HeadsInput& input, const Scores& wanted);

/// Measures the heads of one checkpoint on one text after another: it is opened once, and scores of the
/// weights alone are computed once.
class HeadsOfTexts {
public:
    /// The input has a model and no tokens. Throws Error(usage) for scores that are not measured on a text,
    /// and what measured_heads throws for its options.
    HeadsOfTexts(const HeadsInput& input, const Scores& wanted);
    ~HeadsOfTexts();
    HeadsOfTexts(const HeadsOfTexts&) = delete;
    HeadsOfTexts& operator=(const HeadsOfTexts&) = delete;

    const checkpoint::TextModel& model() const;
    /// Returns what measured_heads returns for the text. Throws Error(input).
    std::vector<MeasuredHead> measure(const analysis::PromptValue& text);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace headscope::cli
