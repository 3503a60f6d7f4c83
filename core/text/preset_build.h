#pragma once

#include "core/text/lexicon.h"
#include "core/text/preset.h"
#include "core/text/words.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Functions shared by the presets. Not for use outside core/text.
namespace headscope::text::preset {

/// One sine/cosine pair of position columns of x, and the two dimensions of a head that compare them.
struct Wave {
    double period = 1;       ///< in tokens
    std::int64_t column = 0; ///< the column of x with sin(2 pi t / period); the next column has the cosine
    double cosine = 0;       ///< weight of cos(2 pi d / period) in the scaled score; d = query - key position
    double sine = 0; ///< weight of sin(2 pi d / period); a positive weight prefers keys before the query
};

/// Writes sin and cos of every position into columns wave.column and wave.column + 1 of x (1, T, D).
void write_positions(Tensor& x, const Wave& wave);

/// Adds wave.cosine cos + wave.sine sin of the distance to a head's scaled scores, through two dimensions of
/// the head from W column `at` on. `key_strength` is the factor in W_K; W_Q has the rest, rotated.
void compare_positions(Tensor& W_Q, Tensor& W_K, const Wave& wave, std::int64_t at, std::int64_t dk,
                       double key_strength);

/// The wave gain cos(2 pi (d - shift) / period), which is highest for the key `shift` tokens before the
/// query.
Wave peak_at(Wave wave, double shift, double strength);

/// The orthogonal and symmetric n x n matrix sqrt(2/n) cos(pi/n (r + 1/2) (c + 1/2)), known as DCT-IV: every
/// number differs from its neighbors, every column mixes all rows, and its square is the identity.
TensorPtr mixing_matrix(std::int64_t n);

/// The four projections of a layer, without biases.
Weights make_weights(TensorPtr W_Q, TensorPtr W_K, TensorPtr W_V, TensorPtr W_O);

/// A self-attention problem of one batch entry: dk = dv = D / H, Hkv = H, no mask.
Problem make_problem(const std::vector<Word>& words, std::int64_t H, TensorPtr x, Weights weights);

// Each preset has its own namespace, whose sizes are D, H and dk.
namespace first_lesson {
/// `longest`: the number of tokens that the positions and head 1 must distinguish.
PresetProblem problem(const std::vector<Word>& words, std::int64_t longest);
} // namespace first_lesson
namespace cat_sleeps {
PresetProblem problem(const std::vector<Word>& words);
}
namespace eight_experts {
PresetProblem problem(const std::vector<Word>& words, std::uint64_t seed);
}
namespace translation {
PresetProblem problem(const std::vector<Word>& words);
}
namespace random {
PresetProblem problem(const std::vector<Word>& words, std::uint64_t seed);
}

} // namespace headscope::text::preset
