#pragma once

#include <cstdint>

namespace headscope::graph {

/// The kinds of operations. core/graph/ops has one file for each.
enum class Op : std::uint8_t {
    // Leaves: numbers that are not computed.
    parameter,
    input,
    constant,
    // Vectors of tokens.
    embedding, ///< a row of a table for each token
    linear,    ///< rows times a matrix, plus a bias
    add,       ///< a sum
    multiply,  ///< a product, number by number
    scale,     ///< times or divided by a number
    soft_cap,  ///< as scale, then cap tanh(number / cap)
    slice,     ///< some columns
    concat,    ///< columns side by side
    rms_norm,
    layer_norm,
    match_magnitude, ///< each row times a number that gives it the root mean square of another
    mix,             ///< a sum, its terms times numbers of the token
    // Attention.
    split_heads,      ///< columns of each head in a row of its own
    head_norm,        ///< as split_heads, then a norm of the head's row
    joint_norm,       ///< RMSNorm of the row of all heads, then as split_heads
    rotate,           ///< as split_heads, then rotated by position
    token_scale,      ///< as split_heads, then times a number of the token
    dot_product,      ///< each query times each key, plus terms that are given
    alibi,            ///< a bias that grows with the position of the key
    distance_bias,    ///< a learned bias for each head and distance
    relative_product, ///< each query, or each key, times the vector of its distance to each of the others
    mask,             ///< minus infinity where attention is not allowed, plus a bias
    softmax,
    mean,            ///< over heads
    value_sum,       ///< weights times values
    join_heads,      ///< heads side by side, each times its head gain
    head_projection, ///< each head times its rows of W_O
    // MLP.
    activation,
    gaussian_top_k, ///< the amount by which each number exceeds a cutoff of its row, else 0
    gate,           ///< activation of one input times the other
    route,          ///< the fractions of the experts of each token
    expert_linear,  ///< rows times the matrix of each expert
    expert_sum,     ///< outputs of the experts, weighted by their fractions
    // Delta layers.
    causal_conv, ///< each column times weights of its last tokens
    decay,       ///< the fraction of a state that stays
    delta_rule   ///< the read-outs of a state that keys and values write
};
inline constexpr int op_count = static_cast<int>(Op::delta_rule) + 1;

constexpr bool is_leaf(Op op) {
    return op == Op::parameter || op == Op::input || op == Op::constant;
}

} // namespace headscope::graph
