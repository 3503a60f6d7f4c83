#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope::checkpoint {

/// How a token is taken from the logits of one position.
struct SamplingSettings {
    double temperature = 0; ///< divides the logits; >= 0. 0: greedy, the token of the largest logit
    std::optional<std::int64_t> top_k; ///< only the likeliest so many, at least 1; all where there are fewer
    std::optional<double> top_p;       ///< only the likeliest that together reach it, in (0, 1]
    std::uint64_t seed = 0;
};

/// Throws Error(input) naming the setting that is out of range.
void check_settings(const SamplingSettings& settings);

/// One token of the vocabulary.
struct Candidate {
    std::int64_t id = 0;
    float logit = 0;
    double probability = 0; ///< softmax of the logits as the model gives them, over the whole vocabulary
    double tempered = 0;    ///< softmax of logit / temperature; greedy: `probability`
    double kept = 0; ///< `tempered` over what the cut-offs leave; 0 for a token that is cut off. Greedy: 1
                     ///< for the token taken, else 0
};

/// What can come next and what came. In this order: temperature, top-k, renormalised, top-p, renormalised,
/// draw.
struct Distribution {
    /// The likeliest token first, of equals the one with the lower id: as many as were asked for, and all up
    /// to the one that was taken.
    std::vector<Candidate> candidates;
    std::int64_t kept = 0;      ///< how many tokens the cut-offs leave: the first in that order
    std::optional<double> draw; ///< uniform in [0, 1); none when greedy
    /// Index in `candidates`. The lengths `kept` of the candidates lie one after the other from 0 to 1: the
    /// one that `draw` lies in is taken.
    std::size_t taken = 0;

    /// The probability with which a candidate is taken: `kept`; greedy, where nothing is drawn,
    /// `probability`.
    double share(std::size_t n) const { return draw ? candidates[n].kept : candidates[n].probability; }
};

/// logits: one position's, at least one, finite. step: the place of the token in its text, from 0. The draw
/// depends on seed and step alone, so that a token that is taken back and drawn again is the same. listed:
/// how many candidates to list at least. Throws what check_settings throws.
Distribution sample(std::span<const float> logits, const SamplingSettings& settings, std::int64_t step,
                    std::size_t listed);

} // namespace headscope::checkpoint
