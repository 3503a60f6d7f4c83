#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <random>

namespace headscope {

/// What a generated problem has beside its sizes.
struct Features {
    bool biases = false;
    bool gains = false;
    float temperature = 1.0F;
    bool joint_norm = false; ///< of queries and keys across the heads
    bool sink = false;
    float qkv_limit = 0.0F;
    /// Every tensor holds small whole numbers times this power of two, so that scores are exact in float32
    /// and ties are ties for everybody; absent (0): uniform numbers in [-1, 1).
    int exponent = 0;
    bool whole_numbers = false;
};

/// The same numbers on every machine: the engine is specified by the standard and nothing of <random>'s
/// distributions is used.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : bits_(seed) {}
    /// Uniform in [-1, 1), with 24 bits.
    float real() { return static_cast<float>(bits_() >> 40U) / 8388608.0F - 1.0F; }
    /// Whole, in [low, high].
    std::int64_t whole(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return whole(0, 99) < percent; }
    /// Uniform numbers times `scale`.
    TensorPtr tensor(const Shape& shape, float scale);
    /// Whole numbers in [-2, 2] times `scale`.
    TensorPtr whole_tensor(const Shape& shape, float scale);
    /// 1 with this probability.
    BoolTensorPtr bools(const Shape& shape, int percent);

private:
    std::mt19937_64 bits_;
};

/// A problem of these sizes; X_kv is given when Tq differs from Tk or D from Dkv, or `cross` demands it.
Problem generate(const Dims& dims, const Features& features, Numbers& numbers, bool cross = false);

/// One rule of each kind by number, 0 to 8; sizes and shapes are drawn.
constexpr int rule_kinds = 9;
MaskRule generate_rule(int kind, const Dims& dims, Numbers& numbers);

} // namespace headscope
