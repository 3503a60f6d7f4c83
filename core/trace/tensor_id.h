// Longer than 150 lines: one list of names, a line each.
#pragma once

#include "core/tensor/relative_rows.h"
#include "core/trace/stops.h"

#include <cstdint>

namespace headscope {

/// Every tensor that has a name on screen, in files and on the command line. Stages come first; the order
/// means nothing else.
enum class TensorId : std::uint8_t {
    x,
    q,
    k,
    v,
    q_normed,
    k_normed,
    q_heads,
    k_heads,
    v_heads,
    pos_keys,
    pos_queries,
    c2p,
    p2c,
    scores,
    scaled,
    masked,
    weights,
    weights_mean,
    head_out,
    gate,
    head_out_gated,
    concat,
    contributions,
    output,
    x_kv,
    W_Q,
    W_K,
    W_V,
    W_O,
    W_G,
    b_Q,
    b_K,
    b_V,
    b_O,
    b_G,
    rel_positions,
    W_KR,
    W_QR,
    b_KR,
    b_QR,
    mask,
    gain,
    temperature,
    rotary_cos,
    rotary_sin,
    query_scale,
    q_norm,
    k_norm,
    q_norm_all,
    k_norm_all,
    norm_eps,
    score_cap,
    qkv_limit,
    sink,
    embedding,
    position,
    resid_in,
    norm1,
    delta_q,
    delta_k,
    delta_v,
    delta_decay,
    delta_beta,
    delta_y,
    delta_z,
    delta_out,
    attn_raw,
    attn_out,
    resid_mid,
    norm2,
    mlp_pre,
    mlp_gate,
    mlp_act,
    mlp_shared,
    routing,
    mlp_experts,
    mlp_raw,
    mlp_out,
    resid_out,
    final_norm,
    logits,
    probabilities,
    norm1_weight,
    norm1_bias,
    norm1_after_weight,
    norm2_weight,
    norm2_bias,
    norm2_after_weight,
    W_in,
    b_in,
    W_gate,
    b_gate,
    W_out,
    b_out,
    W_router,
    b_router,
    expert_W_gate,
    expert_b_gate,
    expert_W_in,
    expert_b_in,
    expert_W_out,
    expert_b_out,
    final_norm_weight,
    final_norm_bias,
    W_E,
    W_P,
    W_type,
    W_R,
    W_U,
    b_U
};
inline constexpr int stage_count = 24, block_count = 28, block_weight_count = 28, tensor_count = 110;

/// How one cell of a stage follows from the cells it reads; the inspector explains each in its own way.
enum class Operation : std::uint8_t {
    given,               ///< decided by the user, or by the positions of the tokens
    projection,          ///< a row of one tensor times a column of another, plus a bias
    split,               ///< the same number, in the head that owns its column
    head_norm,           ///< as split, then RMSNorm of the head's row
    joint_norm,          ///< RMSNorm of the row of all heads, then as split
    rotation,            ///< as split, then turned with its partner by the position
    token_scale,         ///< as split, then times a number of the token
    relative_projection, ///< as projection, of the vectors of relative positions
    relative_product,    ///< q_i or k_j times the vector of their relative position
    dot_product,         ///< q_i . k_j, plus the terms by relative position
    scale,               ///< divided by sqrt(dk) and the temperature
    soft_cap,            ///< as scale, then cap tanh(score / cap)
    mask,                ///< minus infinity where attention is not allowed, plus an additive mask
    softmax,             ///< exp(s - max) / sum over a row, and over the head's sink where it has one
    mean,                ///< the average over heads
    value_sum,           ///< weights times a column of V
    head_columns,        ///< as projection, in the head that owns the column
    gated,               ///< sigmoid of one number times another
    join,                ///< the same number times the head's gain, beside those of the other heads
    head_projection,     ///< one head's numbers times its rows of W_O
    output_projection,   ///< a projection that is also the sum of the heads' contributions
    around,              ///< made by a checkpoint around its attention
};
inline constexpr int operation_count = 22;

/// How numbers are coloured.
enum class Scale : std::uint8_t {
    values, ///< by size and sign, around zero
    scores, ///< from the lowest to the highest: zero means nothing to the softmax
    shares  ///< from zero up
};

/// What a problem has beyond what every problem has.
struct ProblemParts {
    bool cross = false;  ///< keys and values have a source of their own
    bool latent = false; ///< that source has a row for each token of x
    /// Terms of the scores by content and relative position: at least one, that of queries, that of keys,
    /// both.
    bool relative_terms = false, c2p = false, p2c = false, both_terms = false;
    /// Keys and queries of positions have weights of their own; else W_K and W_Q make them.
    bool own_pos_keys = false, own_pos_queries = false;
    RelativeRows relative{};  ///< the rows that these terms read
    bool rotary = false;      ///< a rotary position embedding
    bool query_scale = false; ///< a number for each token that its queries are multiplied by
    bool qk_norm = false;     ///< a norm on the rows of q and k in each head
    bool joint_norm = false;  ///< a norm on the rows of q and k across all heads, in place of qk_norm
    bool qkv_limit = false;   ///< bounds that q, k and v are cut to
    bool soft_cap = false;    ///< a bound that the scaled scores approach
    bool gated = false;       ///< a gate on the head outputs
    bool sink = false;        ///< a number of each head that takes part in its softmax
    bool tempered = false;    ///< a temperature that is not 1
    bool all_allowed = false; ///< no rule of a mask
    bool added_mask = false;  ///< a mask that adds numbers to the scores
    bool operator==(const ProblemParts&) const = default;
};
using ProblemPart = bool ProblemParts::*;

} // namespace headscope
