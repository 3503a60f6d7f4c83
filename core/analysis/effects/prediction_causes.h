#pragma once

#include "core/analysis/effects/logit_attribution.h"
#include "core/base/progress.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// A residual stream component with its part in the difference of two logits.
struct PredictionCause {
    Writer writer;
    double value = 0; ///< in logits; positive: towards the predicted token
    /// For a head: its attention weights at the position, (Tk), and the key with the largest weight; empty
    /// and -1 for other components.
    std::vector<float> weights = {};
    std::int64_t key = -1;
};

/// The prediction of a run in which one head has another gain.
struct GainPrediction {
    std::vector<checkpoint::TokenChance> likeliest; ///< the most likely tokens, largest probability first
    std::vector<float> chances;                     ///< probabilities of the tokens that were asked for
    double difference = 0; ///< logit of the first of these tokens minus that of the second; 0 for fewer
};

/// The next token at one position, and the reasons for it.
struct PredictionCauses {
    /// The two compared tokens: the most likely one, and its strongest rival in `against`.
    LogitQuestion question;
    std::vector<checkpoint::TokenChance> likeliest; ///< temperature 1, largest probability first
    double difference = 0; ///< logit difference of the two, before a cap; `largest` and `rest` add up to it
    double capped = 0;     ///< the same after the cap, if the model has one; else `difference`
    /// At most three heads, MLPs and embeddings: the one with the largest positive part, then those with the
    /// largest absolute values.
    std::vector<PredictionCause> largest;
    double rest = 0;              ///< the parts of all other components together
    std::vector<LogitPart> parts; ///< of all components, in the order in which they are written
    /// The head with the largest positive part, and the prediction of a run without it, with the
    /// probabilities of the two tokens; none if no head has a positive part.
    std::optional<PredictionCause> head;
    std::optional<GainPrediction> without;
};

/// Splits the prediction at `position`, in [0, T): direct logit attribution of the most likely token against
/// the second (Elhage et al. 2021), with the final norm frozen, and one run without the head that
/// contributes most. count: length of `likeliest` in both predictions, at least 2. Computes on the CPU; any
/// thread may call it. Throws what logit_attribution throws; Error(input) for a vocabulary of one token;
/// Error(cancelled).
PredictionCauses prediction_causes(const checkpoint::ModelRun& run, std::int64_t position, std::size_t count,
                                   const Progress& cancel);

/// Runs the model again with another gain for one head, in [0, H) of that attention, and the run's other
/// edits. Throws likewise.
GainPrediction prediction_with_gain(const checkpoint::ModelRun& run, checkpoint::AttentionPlace place,
                                    std::int64_t head, float gain, std::int64_t position,
                                    const std::vector<std::int64_t>& tokens, std::size_t count,
                                    const Progress& cancel);

} // namespace headscope::analysis
