#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// The difference of two checkpoints on one text, B - A.
struct RunDifference {
    struct Head {
        checkpoint::AttentionPlace place;
        std::int64_t head = 0;
        double pattern = 0; ///< mean absolute difference of its attention weights, over all (Tq, Tk)
        /// The head's part of the logit of `token` less the mean logit, in B minus that in A; nothing for a
        /// head that does not write to the residual stream of the model's own stack.
        std::optional<double> effect = {};
    };
    std::vector<Head> heads; ///< in the order of the attentions
    /// The likeliest next token in A, in whose logit the effects are.
    std::int64_t token = -1;
    checkpoint::TokenChance next_a, next_b; ///< the likeliest next tokens
    double divergence = 0;                  ///< KL(A || B) of the next token, over the vocabulary, in nats
    bool has_prediction = false;            ///< false for models without logits; then only the patterns count
};

/// Compares two runs over the same tokens by models of one shape, at the last position. Throws Error(input)
/// for numbers beyond float32's range, and Error(cancelled).
RunDifference run_difference(const checkpoint::ModelRun& a, const checkpoint::ModelRun& b,
                             const Progress& cancel);

} // namespace headscope::analysis
