#pragma once

#include "core/analysis/effects/stream_writers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::analysis {

/// One score of a checkpoint.
struct ScoreQuestion {
    std::int64_t attention = 0; ///< see stacks.h; a layer in a model of one stack
    std::int64_t head = 0, query = 0, key = 0;
    bool operator==(const ScoreQuestion&) const = default;
};

/// One pair of numbers that a rotary position embedding turns together.
struct RotationPair {
    double turned = 0;        ///< what the pair adds to the score
    double at_distance_0 = 0; ///< what it would add if both tokens stood at one position
    double wavelength = 0;    ///< tokens of one whole turn; 0: the pair does not turn
};

/// A score taken apart by who wrote what the query and the key are made of. With the scales of the norms
/// held, scaled[i,j] is a sum over pairs of writers (Elhage et al. 2021, the QK circuit); and, with rotation,
/// a sum over pairs of numbers (Barbero et al. 2024, "Round and Round We Go").
struct ScoreTerms {
    double scaled = 0;               ///< before a soft cap; all terms add up to it, and so do all pairs
    double capped = 0;               ///< after it; else `scaled`
    double scale = 0;                ///< multiplies the dot product
    std::vector<Writer> writers;     ///< of both axes
    Tensor terms{Shape{0, 0}};       ///< (writers at the query, writers at the key)
    std::vector<RotationPair> pairs; ///< dk / 2, in the order of the head's numbers; empty without rotation

    double term(std::size_t query, std::size_t key) const {
        return static_cast<double>(terms.at(query, key));
    }
};

/// What the norms on queries and keys do is held at this run's scale, and a limit on q and k at its share of
/// each number. Throws Error(input) for the attention of an encoder and a cross-attention, whose keys are not
/// of the stream of the queries, and for a head, a query or a key that is not there; Error(cancelled).
ScoreTerms score_terms(const checkpoint::ModelRun& run, const ScoreQuestion& question,
                       const Progress& cancel);

} // namespace headscope::analysis
