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
    v_normed,
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
    v_norm,
    norm_eps,
    score_cap,
    qkv_limit,
    sink,
    embedding,
    position,
    resid_in,
    predicted,
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
    laurel_out,
    resid_mid,
    norm2,
    mlp_pre,
    mlp_gate,
    mlp_sparse,
    mlp_act,
    mlp_shared,
    routing,
    mlp_experts,
    mlp_raw,
    mlp_out,
    activated,
    corrected,
    layer_out,
    resid_out,
    merged,
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
inline constexpr int stage_count = 25, block_count = 35, block_weight_count = 28, tensor_count = 119;

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
    /// Terms of the scores by content and relative position: at least one, that of queries, that of keys.
    bool relative_terms = false, c2p = false, p2c = false;
    /// Keys and queries of positions have weights of their own; else W_K and W_Q make them.
    bool own_pos_keys = false, own_pos_queries = false;
    RelativeRows relative{};  ///< the rows that these terms read
    bool rotary = false;      ///< a rotary position embedding
    bool query_scale = false; ///< a number for each token that its queries are multiplied by
    bool qk_norm = false;     ///< a norm on the rows of q and k in each head
    bool value_norm = false;  ///< a norm on the rows of v in each head
    bool joint_norm = false;  ///< a norm on the rows of q and k across all heads, in place of qk_norm
    bool qkv_limit = false;   ///< bounds that q, k and v are cut to
    bool soft_cap = false;    ///< a bound that the scaled scores approach
    bool gated = false;       ///< a gate on the head outputs
    bool sink = false;        ///< a number of each head that takes part in its softmax
    bool tempered = false;    ///< a temperature that is not 1
    bool operator==(const ProblemParts&) const = default;
};
using ProblemPart = bool ProblemParts::*;

} // namespace headscope
