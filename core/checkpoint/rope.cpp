#include "core/checkpoint/rope.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope {

namespace {

/// As in Hugging Face's _compute_llama3_parameters (modeling_rope_utils.py).
double stretched(double frequency, const RopeScaling& scaling) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    const double longest = scaling.original_max_positions / scaling.low_freq_factor;
    const double shortest = scaling.original_max_positions / scaling.high_freq_factor;
    if (wavelength > longest)
        return frequency / scaling.factor;
    if (wavelength < shortest)
        return frequency;
    const double kept = (scaling.original_max_positions / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
    return (1.0 - kept) * frequency / scaling.factor + kept * frequency;
}

} // namespace

std::vector<float> rotary_frequencies(const ModelConfig& config) {
    std::vector<float> frequencies(static_cast<std::size_t>(config.dk / 2));
    const RopeScaling& scaling = config.rope_scaling;
    for (std::size_t c = 0; c < frequencies.size(); ++c) {
        const float exponent = static_cast<float>(2 * c) / static_cast<float>(config.dk);
        double frequency = 1.0F / std::pow(static_cast<float>(config.rope_theta), exponent);
        if (scaling.kind == RopeScaling::Kind::linear)
            frequency /= scaling.factor;
        else if (scaling.kind == RopeScaling::Kind::llama3)
            frequency = stretched(frequency, scaling);
        frequencies[c] = static_cast<float>(frequency);
    }
    return frequencies;
}

Rotary rotary_tables(const ModelConfig& config, std::int64_t T) {
    if (config.rope_scaling.kind == RopeScaling::Kind::dynamic && T > config.max_positions)
        fail_input("there are " + std::to_string(T) +
                   " tokens, and the model's dynamic rope_scaling is computed "
                   "here up to max_position_embeddings = " +
                   std::to_string(config.max_positions) + " alone; give fewer");
    const std::vector<float> frequencies = rotary_frequencies(config);
    const std::int64_t half = config.dk / 2;
    auto cos = std::make_shared<Tensor>(Shape{1, T, config.dk});
    auto sin = std::make_shared<Tensor>(Shape{1, T, config.dk});
    for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t c = 0; c < config.dk; ++c) {
            const float angle = static_cast<float>(i) * frequencies[static_cast<std::size_t>(c % half)];
            cos->at(0, i, c) = std::cos(angle);
            sin->at(0, i, c) = std::sin(angle);
        }
    return {cos, sin};
}

} // namespace headscope
