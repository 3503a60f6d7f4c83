#pragma once

#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::checkpoint {

// Logits that are not all finite predict nothing, here and wherever a prediction is explained or drawn.

/// The sentence that refuses predictions after a token; nothing: the logits leave the range somewhere.
std::string not_finite_logits(std::optional<std::int64_t> position);
/// Throws Error(input) with that sentence unless all logits after the token are finite.
void require_finite_logits(std::span<const float> logits, std::int64_t position);

/// One entry of the vocabulary and how likely the model holds it.
struct TokenChance {
    std::int64_t id = 0;
    float probability = 0; ///< softmax over the whole vocabulary
};

/// The `count` likeliest tokens after softmax of one position's logits (vocab numbers), likeliest first; of
/// equals the smaller id. This and what follows throw Error(input) for logits that are not finite.
std::vector<TokenChance> likeliest(std::span<const float> logits, std::size_t count);

/// The probabilities of these entries among all.
std::vector<float> chances_of(std::span<const float> logits, std::span<const std::int64_t> ids);

/// How one position's distribution over the vocabulary moved.
struct PredictionShift {
    struct Moved {
        std::int64_t id = 0;
        float before = 0, after = 0; ///< probabilities
    };
    double kl = 0;            ///< KL(before || after) in nats, >= 0
    std::vector<Moved> moved; ///< the tokens whose probability moved most, largest move first
};
PredictionShift compare_predictions(std::span<const float> before, std::span<const float> after,
                                    std::size_t count);

} // namespace headscope::checkpoint
