#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <optional>
#include <random>

namespace headscope {

/// Features of a generated problem, in addition to its sizes.
struct Features {
    bool biases = false;
    bool gains = false;
    float temperature = 1.0F;
    bool joint_norm = false; ///< RMSNorm of queries and keys across the heads
    bool sink = false;
    bool gate = false; ///< on the head outputs
    bool query_scale = false;
    bool value_norm = false; ///< RMSNorm of each value head
    std::optional<RelativeTerms> relative{};
    bool own_positions = false; ///< relative positions have weights of their own
    float qkv_limit = 0.0F;
    /// Every tensor holds small whole numbers times this power of two, so that scores are exact in float32
    /// and ties are exact in every engine; absent (0): uniform numbers in [-1, 1).
    int exponent = 0;
    bool whole_numbers = false;
};

/// Generates the same numbers on every machine: the standard specifies the engine, and the distributions of
/// <random>, which it does not specify, are not used.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : bits_(seed) {}
    /// Returns a uniform number in [-1, 1), with 24 bits.
    float real() { return static_cast<float>(bits_() >> 40U) / 8388608.0F - 1.0F; }
    /// Returns a whole number in [low, high].
    std::int64_t whole(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return whole(0, 99) < percent; }
    /// Returns uniform numbers times `scale`.
    TensorPtr tensor(const Shape& shape, float scale);
    /// Returns whole numbers in [-2, 2] times `scale`.
    TensorPtr whole_tensor(const Shape& shape, float scale);
    /// Returns 1 with this probability.
    BoolTensorPtr bools(const Shape& shape, int percent);

private:
    std::mt19937_64 bits_;
};

/// Returns a problem of these sizes; it has X_kv if Tq differs from Tk or D from Dkv, or `cross` requires it.
Problem generate(const Dims& dims, const Features& features, Numbers& numbers, bool cross = false);

/// Returns one rule of each kind by number, 0 to 9, with random sizes and shapes. Not every engine computes
/// rules of the last kind.
constexpr int rule_kinds = 9, cpu_rule_kinds = 10;
MaskRule generate_rule(int kind, const Dims& dims, Numbers& numbers);

} // namespace headscope
