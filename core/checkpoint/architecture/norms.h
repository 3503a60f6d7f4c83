#pragma once

#include <cstdint>

namespace headscope::checkpoint {

// The norms of a model, and how its branches are added to the residual stream.

enum class NormKind : std::uint8_t {
    layer,          ///< (x - mean) / sqrt(variance + eps) * weight + bias
    layer_plus_one, ///< (x - mean) / sqrt(variance + eps) * (1 + weight) + bias; Model adds the 1
    rms,            ///< x / sqrt(mean square + eps) * weight
    rms_plus_one    ///< x / sqrt(mean square + eps) * (1 + weight); Model adds the 1
};
/// Whether it subtracts the mean.
constexpr bool is_layer_norm(NormKind kind) {
    return kind == NormKind::layer || kind == NormKind::layer_plus_one;
}
/// Whether the file has its weights less 1.
constexpr bool adds_one(NormKind kind) {
    return kind == NormKind::layer_plus_one || kind == NormKind::rms_plus_one;
}

/// Where the two norms of a layer stand: norm1 belongs to the attention, norm2 to the MLP.
struct NormPlaces {
    bool before = false;       ///< on what attention and MLP read
    bool after_branch = false; ///< on what they return, before it is added
    bool after_sum = false;    ///< on the sum of both
    bool first = true;         ///< false: layer 0 has no norm before its attention
};

enum class Residual : std::uint8_t {
    serial,           ///< x + attention, then + MLP of that sum
    parallel,         ///< x + attention(norm1 x) + MLP(norm2 x)
    parallel_one_norm ///< x + attention(norm1 x) + MLP(norm1 x)
};

enum class QkNorm : std::uint8_t {
    none,
    per_head,       ///< RMSNorm over dk
    per_head_layer, ///< LayerNorm over dk
    whole_width,    ///< across the heads
    per_head_plain  ///< RMSNorm over dk without weights, in layers with rotary positions
};

} // namespace headscope::checkpoint
