#pragma once

#include <cstdint>

namespace headscope::text {

/// splitmix64 (Steele, Lea and Flood 2014): a counter that increases by the golden ratio, and a mixing
/// function. The numbers are the same on every machine, unlike those of the standard library's distributions.
/// For one thread.
class RandomNumbers {
public:
    /// The numbers after the first `skipped` ones.
    explicit RandomNumbers(std::uint64_t seed, std::uint64_t skipped = 0)
        : state_(seed + skipped * golden_ratio) {}

    std::uint64_t next() {
        state_ += golden_ratio;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    /// Uniform in [-1, 1), a multiple of 2^-23: exact in float.
    float uniform() {
        return static_cast<float>(static_cast<std::int64_t>(next() >> 40U) - (1 << 23)) * 0x1p-23F;
    }
    /// Uniform in [0, 1), a multiple of 2^-53.
    double fraction() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    /// Standard normal, computed only by comparing uniform numbers (Karney 2016, "Sampling exactly from the
    /// normal distribution"), because another machine might round a logarithm or cosine differently.
    double normal();

private:
    static constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;
    /// True with probability exp(-x), for x in [0, 1].
    bool survives(double x);

    std::uint64_t state_;
};

} // namespace headscope::text
