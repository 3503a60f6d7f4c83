#include "core/text/preset_build.h"
#include "core/text/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::text::preset::random {

namespace {

constexpr std::int64_t D = 32;
constexpr std::int64_t H = 4;
constexpr double longest_period = 10'000;

/// Xavier initialization (Glorot and Bengio 2010): uniform within sqrt(6 / (rows + columns)).
TensorPtr xavier_matrix(RandomNumbers& numbers) {
    auto matrix = std::make_shared<Tensor>(Shape{D, D});
    const auto limit = static_cast<float>(std::sqrt(6.0 / (D + D)));
    std::ranges::generate(matrix->values(), [&] { return limit * numbers.uniform(); });
    return matrix;
}

} // namespace

PresetProblem problem(const std::vector<Word>& words, std::uint64_t seed) {
    const auto T = std::ssize(words);
    auto x = std::make_shared<Tensor>(Shape{1, T, D}, 0.0F);
    for (std::int64_t column = 0; column < D; column += 2)
        write_positions(
            *x, {.period = 2 * std::numbers::pi * std::pow(longest_period, static_cast<double>(column) / D),
                 .column = column});
    for (std::int64_t t = 0; t < T; ++t) {
        const auto word = word_vector(words[static_cast<std::size_t>(t)].text, D, seed);
        for (std::int64_t column = 0; column < D; ++column)
            x->at(0, t, column) += word[static_cast<std::size_t>(column)];
    }
    RandomNumbers numbers(seed);
    Weights weights;
    for (TensorPtr* matrix : {&weights.W_Q, &weights.W_K, &weights.W_V, &weights.W_O})
        *matrix = xavier_matrix(numbers);
    return {make_problem(words, H, x, weights), std::vector<std::string>(H), {}};
}

} // namespace headscope::text::preset::random
