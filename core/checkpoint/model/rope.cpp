#include "core/checkpoint/model/rope.h"

#include "core/checkpoint/model/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::checkpoint {

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

/// As in Hugging Face's _compute_dynamic_ntk_parameters: beyond the positions of the training the base grows.
double base_of(const Architecture& architecture, const Rope& rope, std::int64_t T) {
    const RopeScaling& scaling = rope.scaling;
    if (scaling.kind != RopeScaling::Kind::dynamic || T <= architecture.max_positions)
        return rope.theta;
    const auto trained = static_cast<double>(architecture.max_positions);
    const double longer = 1.0 + scaling.factor * (static_cast<double>(T) - trained) / trained;
    const auto width = static_cast<double>(architecture.rotary_width);
    return rope.theta * std::pow(longer, width / (width - 2.0));
}

/// How much of each frequency yarn divides by the factor: nothing of those that turn more often than
/// beta_fast within the original positions, all of those below beta_slow, as in Hugging Face's
/// _compute_yarn_parameters.
std::vector<double> divided_parts(const Architecture& architecture, const Rope& rope) {
    const RopeScaling& scaling = rope.scaling;
    const auto width = static_cast<double>(architecture.rotary_width);
    const auto pair_of = [&](double turns) {
        return width * std::log(scaling.original_max_positions / (turns * 2.0 * std::numbers::pi)) /
               (2.0 * std::log(rope.theta));
    };
    double first = pair_of(scaling.beta_fast), last = pair_of(scaling.beta_slow);
    if (scaling.whole_pairs) {
        first = std::floor(first);
        last = std::ceil(last);
    }
    first = std::clamp(first, 0.0, width);
    last = std::min(last, width - 1.0);
    if (first == last)
        last += 0.001;
    std::vector<double> parts(static_cast<std::size_t>(architecture.rotary_width / 2));
    for (std::size_t c = 0; c < parts.size(); ++c)
        parts[c] = std::clamp((static_cast<double>(c) - first) / (last - first), 0.0, 1.0);
    return parts;
}

} // namespace

std::vector<float> rotary_frequencies(const Architecture& architecture, const Rope& rope, std::int64_t T) {
    using Kind = RopeScaling::Kind;
    std::vector<float> frequencies(static_cast<std::size_t>(architecture.rotary_width / 2));
    const RopeScaling& scaling = rope.scaling;
    const auto base = static_cast<float>(base_of(architecture, rope, T));
    const std::vector<double> divided =
        scaling.kind == Kind::yarn ? divided_parts(architecture, rope) : std::vector<double>();
    const std::vector<double>& factors = static_cast<double>(T) > scaling.original_max_positions
                                             ? scaling.long_factors
                                             : scaling.short_factors;
    for (std::size_t c = 0; c < frequencies.size(); ++c) {
        const float exponent = static_cast<float>(2 * c) / static_cast<float>(architecture.rotary_width);
        double frequency = 1.0F / std::pow(base, exponent);
        if (scaling.kind == Kind::linear)
            frequency /= scaling.factor;
        else if (scaling.kind == Kind::llama3)
            frequency = stretched(frequency, scaling);
        else if (scaling.kind == Kind::yarn)
            frequency *= divided[c] / scaling.factor + (1.0 - divided[c]);
        else if (scaling.kind == Kind::longrope)
            frequency /= factors[c];
        frequencies[c] = static_cast<float>(frequency);
    }
    return frequencies;
}

std::vector<std::int64_t> rotary_order(const Architecture& architecture) {
    const std::int64_t dk = architecture.dk, width = architecture.rotary_width;
    const bool neighbours = architecture.rotary_pairs == RotaryPairs::neighbours;
    std::vector<std::int64_t> order;
    if (width == 0 || (width == dk && !neighbours))
        return order;
    order.resize(static_cast<std::size_t>(dk));
    // The first number that turns, and the first that does not.
    const std::int64_t start = architecture.latent ? dk - width : 0;
    std::int64_t rest = architecture.latent ? 0 : width;
    for (std::int64_t c = 0; c < dk / 2; ++c) {
        const bool turns = c < width / 2;
        const auto first = static_cast<std::size_t>(c), second = static_cast<std::size_t>(c + dk / 2);
        order[first] = !turns ? rest++ : start + (neighbours ? 2 * c : c);
        order[second] = !turns ? rest++ : start + (neighbours ? 2 * c + 1 : c + width / 2);
    }
    return order;
}

Rotary rotary_tables(const Architecture& architecture, const Rope& rope, std::int64_t T, std::int64_t first) {
    const std::vector<float> frequencies = rotary_frequencies(architecture, rope, T);
    const auto magnitude = static_cast<float>(rope.scaling.attention_factor);
    const std::int64_t half = architecture.dk / 2;
    auto cos = std::make_shared<Tensor>(Shape{1, T - first, architecture.dk}, 1.0F);
    auto sin = std::make_shared<Tensor>(Shape{1, T - first, architecture.dk}, 0.0F);
    for (std::int64_t i = 0; i < T - first; ++i)
        for (std::int64_t c = 0; c < std::ssize(frequencies); ++c) {
            const float angle = static_cast<float>(first + i) * frequencies[static_cast<std::size_t>(c)];
            cos->at(0, i, c) = cos->at(0, i, c + half) = std::cos(angle) * magnitude;
            sin->at(0, i, c) = sin->at(0, i, c + half) = std::sin(angle) * magnitude;
        }
    return {cos, sin};
}

bool angles_change(const Model& model, std::int64_t before, std::int64_t after) {
    const Architecture& architecture = model.architecture();
    return std::ranges::any_of(architecture.ropes, [&](const Rope& rope) {
        return rotary_frequencies(architecture, rope, before) !=
               rotary_frequencies(architecture, rope, after);
    });
}

} // namespace headscope::checkpoint
