#pragma once

#include "core/graph/builder.h"
#include "core/tensor/dims.h"

#include <optional>

namespace headscope::graph {

/// Cosines and sines, (B or 1, Tq, dk), that rotate queries and keys by their positions (Su et al. 2021,
/// "RoFormer").
struct Rotary {
    Value cos, sin;
    Rotation rotation = {};
};

/// Relative positions that queries and keys read (He et al. 2021, "DeBERTa", section 3.1).
struct RelativePositions {
    RelativeRows rows;
    Value table; ///< (distances, D)
    /// Content to position: queries times the keys of positions. Position to content: keys times the queries
    /// of positions.
    bool c2p = false, p2c = false;
    /// (D, H dk) and (H dk): make keys and queries of `table`. Empty: W_K, b_K, W_Q and b_Q do.
    OptionalValue W_K = {}, b_K = {}, W_Q = {}, b_Q = {};
};

/// The settings and inputs of one multi-head attention (Vaswani et al. 2017, section 3.2.2) with what later
/// models added to it.
struct Attention {
    Dims dims;
    Value x;                 ///< (B, Tq, D)
    OptionalValue x_kv = {}; ///< (B, Tk, Dkv): the source of keys and values in cross-attention
    Value W_Q, W_K, W_V, W_O;
    OptionalValue b_Q = {}, b_K = {}, b_V = {}, b_O = {};
    double qkv_limit = 0; ///< q, k and v are clipped to [-limit, limit]; 0: no limit
    /// Weights of a norm of queries and keys: (dk), or (H dk) and (Hkv dk) with joint_norm.
    OptionalValue q_norm = {}, k_norm = {};
    Norm norm = {};
    bool joint_norm = false;   ///< the norm spans all heads
    OptionalValue v_norm = {}; ///< (dv): weights of an RMSNorm of each value head
    std::optional<Rotary> rotary = {};
    OptionalValue query_scale = {}; ///< (Tq): multiplies the queries; not together with `rotary`
    std::optional<RelativePositions> relative = {};
    double score_factor = 1;        ///< multiplies the scores, in addition to 1/√dk
    double score_cap = 0;           ///< 0: none
    OptionalValue temperature = {}; ///< (): divides the scaled scores
    Mask mask = {};                 ///< limits of distance; the flags follow from the values below
    OptionalValue added = {};       ///< axes among (B, H, Tq, Tk): added to the scaled scores
    OptionalValue allowed = {};     ///< axes among (B, H, Tq, Tk): 1 where attention is allowed
    OptionalValue sink = {};        ///< (H)
    OptionalValue gain = {};        ///< (H): the head gains
    /// (D, H dv) and (H dv): the sigmoid of x W_G + b_G multiplies the head outputs.
    OptionalValue W_G = {}, b_G = {};
};

/// Adds attention from q to output, (B, Tq, D), with the mean of the weights and the contributions of the
/// heads.
Value attention(Builder& g, const Attention& a);

// The parts of attention(), for attentions that compute queries, keys or values in other ways.
/// Queries, keys and values of each head: (B, H, Tq, dk), (B, Hkv, Tk, dk), (B, Hkv, Tk, dv).
struct HeadValues {
    Value q, k, v;
};
HeadValues project_heads(Builder& g, const Attention& a);
/// The scores, (B, H, Tq, Tk), with the terms of relative positions if there are some.
Value score(Builder& g, const Attention& a, const HeadValues& heads);
/// The head outputs, (B, H, Tq, dv), times their gates if there are some.
Value attend(Builder& g, const Attention& a, const HeadValues& heads);
/// The output, from the head outputs.
Value join(Builder& g, const Attention& a, const Value& head_out);

} // namespace headscope::graph
