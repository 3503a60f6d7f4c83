#pragma once

#include "app/cli/prompts/prompt_results.h"
#include "core/analysis/checkpoints/parameter_difference.h"
#include "core/analysis/checkpoints/run_difference.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::checkpoint {
struct TextModel;
}

namespace headscope::cli {

/// The differences of two checkpoints.
struct DiffReport {
    /// The difference on one text.
    struct Text {
        std::int64_t line = 0; ///< of the file of prompts; 0: the text of --text or --ids
        analysis::RunDifference difference;
    };
    std::string a, b; ///< as they were given
    std::vector<std::string> only_a = {}, only_b = {};
    std::vector<analysis::ParameterDifference> tensors = {};
    std::vector<analysis::HeadDifference> heads = {};
    std::vector<Text> texts = {};
    std::vector<FailedPrompt> failed = {};

    /// Returns the mean over the texts of a head's difference of patterns, and of its effect; nothing without
    /// texts or effects.
    std::optional<double> pattern(std::size_t head) const;
    std::optional<double> effect(std::size_t head) const;
};

/// Returns the tensors and the heads that differ most, `top` of each, and the predictions.
std::string diff_as_text(const DiffReport& report, const checkpoint::TextModel& model, std::int64_t top);
/// {"a", "b", "only_a", "only_b", "tensors", "heads", "texts", "failed"}, in the order of the checkpoint.
std::string diff_as_json(const DiffReport& report, const checkpoint::TextModel& model);
/// One row for each tensor and each head.
std::string diff_as_csv(const DiffReport& report, const checkpoint::ModelConfig& config);
/// B - A of every tensor under its name, and of the heads of each stack relative norms (layers, H), patterns
/// and effects. Throws like CheckpointPair::tensors.
void write_diff_tensors(const DiffReport& report, const analysis::CheckpointPair& pair,
                        const std::string& path);

} // namespace headscope::cli
