#pragma once

#include "core/graph/builder.h"

namespace headscope::graph {

/// The settings and inputs of a gated delta layer (Yang et al. 2025, "Gated Delta Networks").
struct Delta {
    Value x;                      ///< (B, Tq, D)
    OptionalValue token_valid;    ///< (B, Tq, 1): 0 for padding
    Value W_q, W_k, W_v, W_z;     ///< (D, Hqk dk), (D, Hqk dk), (D, H dv), (D, H dv)
    Value W_a, W_b;               ///< (D, H)
    Value conv_q, conv_k, conv_v; ///< (K, columns of W_q, W_k and W_v): weights of the causal convolutions
    Value A_log, dt_bias;         ///< (H)
    Value norm;                   ///< (dv)
    Value W_out;                  ///< (H dv, D)
    double eps = 1e-6;            ///< below the norm of the read-out
};

/// Adds a delta layer: delta.q, delta.k and delta.v, each projected, convolved over the last tokens and
/// activated, queries and keys of length 1; delta.decay and delta.beta; delta.y, the read-out of the state;
/// delta.z; and delta.out, (B, Tq, D).
Value delta_layer(Builder& g, const Delta& d);

} // namespace headscope::graph
