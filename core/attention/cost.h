#pragma once

#include "core/tensor/dims.h"

#include <cstdint>

namespace headscope {

/// The cost of one problem, computed from its sizes. One multiply-add is 2 FLOP; softmax, masks and biases
/// are not counted, as usual in the field.
struct Cost {
    std::int64_t parameters = 0;       ///< numbers in W_Q, W_K, W_V, W_O (and biases, if present)
    std::int64_t projection_flops = 0; ///< Q, K, V and W_O
    std::int64_t attention_flops = 0;  ///< Q K^T and weights V
    std::int64_t weights_bytes = 0;    ///< B H Tq Tk float32 attention weights
    std::int64_t kv_cache_bytes = 0;   ///< K and V of Tk tokens at float32
    std::int64_t flops() const { return projection_flops + attention_flops; }
};

Cost cost_of(const Dims& dims, bool biases);

/// The size of a model's key/value cache for T tokens: K and V of every layer, 2 layers Hkv dk T numbers.
std::int64_t cache_bytes(std::int64_t layers, std::int64_t Hkv, std::int64_t dk, std::int64_t T,
                         std::int64_t bytes_per_number);

} // namespace headscope
