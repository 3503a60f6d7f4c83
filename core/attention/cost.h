#pragma once

#include "core/tensor/dims.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

/// The cost of one problem, computed from its sizes. One multiply-add is 2 FLOP; softmax, masks and biases
/// are not counted, as usual in the field.
struct Cost {
    std::int64_t parameters = 0;       ///< numbers in W_Q, W_K, W_V, W_O (and biases, if present)
    std::int64_t projection_flops = 0; ///< Q, K, V and W_O
    std::int64_t attention_flops = 0;  ///< Q K^T and weights V
    std::int64_t weights_bytes = 0;    ///< B H Tq Tk float32 attention weights
    std::int64_t kv_cache_bytes = 0;   ///< of Tk tokens at float32: K and V, or latent vectors
    std::int64_t flops() const { return projection_flops + attention_flops; }
};

/// latent: as Problem::latent.
Cost cost_of(const Dims& dims, bool biases, bool latent = false);

/// A way to cache what heads of the same widths read.
struct CacheVariant {
    std::string name;         ///< "MHA", "GQA", "MQA", "MLA"
    std::int64_t Hkv = 0;     ///< key/value heads; 0: a latent vector
    std::int64_t numbers = 0; ///< that a layer keeps of a token
    /// "MHA, Hkv = 8"; "MLA, r + dr = 576": the latent vector, and a key that is rotated.
    std::string text() const;
};
/// MHA; GQA with dims.Hkv key/value heads, unless that is H or 1; MQA, unless H is 1; and if latent > 0
/// multi-head latent attention, which keeps that many numbers (DeepSeek-AI 2024, "DeepSeek-V2", table 1).
/// Reads H, Hkv, dk and dv of the sizes.
std::vector<CacheVariant> cache_variants(const Dims& dims, std::int64_t latent);
/// Those of a layer whose keys and values come from latent vectors of width Dkv. GQA has 8 key/value heads,
/// or half as many as there are heads.
std::vector<CacheVariant> cache_variants_of_latent(const Dims& dims);

} // namespace headscope
