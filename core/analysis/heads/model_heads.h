#pragma once

#include "core/analysis/heads/head_metrics.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/forward.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// One head that was measured.
struct MeasuredHead {
    std::optional<std::int64_t> sequence{}; ///< of a batch, or of a file of sequences
    std::int64_t layer = 0, head = 0;
    HeadMetrics metrics = {};
    std::vector<std::string> warnings = {}; ///< why its numbers may be no attention weights

    /// Nothing for a score that does not apply or cannot be measured of what was given.
    std::optional<float> score(const HeadScoreInfo& info) const {
        return metrics.has(info.score) ? std::optional(metrics[info.score]) : std::nullopt;
    }
};

/// One row for each head of a layer and each batch entry of its trace, which needs weights.
std::vector<MeasuredHead> layer_heads(const Trace& trace, std::int64_t layer, const HeadTokens& tokens);

/// The heads of a checkpoint on one text, or on a batch of texts, in the layers and the stack that the
/// options keep. `repeated`, `hide_first`: see HeadTokens. Keeps the weights of all these layers until it
/// returns. Throws Error(input) for inputs with padding, and what run_model throws.
std::vector<MeasuredHead> text_heads(const checkpoint::TextModel& model,
                                     const checkpoint::ModelInputs& inputs, std::int64_t repeated,
                                     const checkpoint::ForwardOptions& options, run::Backend* backend,
                                     Progress& progress, bool hide_first = false);

/// The mean over texts, at least one, that gave the same heads in the same order.
std::vector<MeasuredHead> mean_heads(const std::vector<std::vector<MeasuredHead>>& texts);

} // namespace headscope::analysis
