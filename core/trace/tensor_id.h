// Longer than 150 lines: one list of names, a line each.
#pragma once

#include "core/tensor/relative_rows.h"
#include "core/trace/stops.h"

#include <cstdint>

namespace headscope {

/// Every tensor that has a name: on screen, in files and on the command line, or as a weight of a checkpoint.
/// Stages come first; the order means nothing else.
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
    b_U,

    // Weights of checkpoints that no page shows. Around the layers:
    embedding_norm_weight,
    embedding_norm_bias,
    embedding_map, ///< (d_embed, D)
    embedding_map_bias,
    head_dense,
    head_dense_bias,
    head_norm_weight,
    head_norm_bias,
    bucket_table, ///< (buckets, H): biases of the scores by distance
    rel_norm_weight,
    rel_norm_bias,
    copies_in,             ///< (copies - 1, D, D): makes each copy of the residual stream but the first
    copies_out,            ///< same: what is added to the first one at the end
    layer_table,           ///< (tokens, layers layer_width): the embeddings that layers have of their own
    layer_projection,      ///< (D, layers layer_width): makes a second part of them from the word embedding
    layer_projection_norm, ///< (layer_width)
    // In every layer:
    W_QKV, ///< W_Q, W_K and W_V in one tensor
    b_QKV,
    W_QG, ///< of each head the columns of W_Q, then those of W_G
    b_QG,
    W_UKV, ///< what W_K and W_V of latent attention are made of
    W_DQ,  ///< (D, Dq): makes the queries' vector
    b_DQ,
    q_latent_norm, ///< (Dq)
    W_DKV,         ///< (D, rank + rotary_width)
    b_DKV,
    kv_latent_norm, ///< (rank)
    delta_W_QKVZ,   ///< of each query head of a delta layer: its query, its key, its values and their gates
    delta_W_BA,     ///< of each query head its values' betas, then their decays
    delta_conv,     ///< (K, channels): of queries, then of keys, then of values
    delta_W_Q,
    delta_W_K,
    delta_W_V,
    delta_W_Z,
    delta_W_B,
    delta_W_A,
    delta_conv_Q,
    delta_conv_K,
    delta_conv_V,
    delta_A_log,
    delta_dt_bias,
    delta_norm,
    delta_W_out,
    router_norm,  ///< (D): of what the coefficients of the copies are made from
    W_copies,     ///< (D, copies): makes what they are products of
    W_predict,    ///< (copies, copies²)
    W_correct,    ///< (copies, copies)
    active_scale, ///< (D): multiplies what the gates of the layer's own embedding are made of
    laurel_left,  ///< (D, rank)
    laurel_right, ///< (rank, D)
    laurel_norm,
    W_layer_gate, ///< (D, layer_width): of the embedding that the layer has of its own
    W_layer_out,  ///< (layer_width, D)
    layer_norm_weight,
    mlp_gate_in,        ///< W_gate and W_in in one tensor
    router_choice_bias, ///< counts in the choice of the experts alone (DeepSeek-AI 2024, V3, section 2.1.2)
    shared_gate,        ///< (D, 1): its sigmoid multiplies the output of the MLP for all tokens
    experts_gate_in,    ///< of every expert W_gate and W_in, one column of each in turn
    experts_gate_in_bias
};
/// Those that pages show come first: `tensor_count` of `named_count`.
inline constexpr int stage_count = 25, block_count = 35, block_weight_count = 28, tensor_count = 119,
                     named_count = 178;
static_assert(static_cast<int>(TensorId::experts_gate_in_bias) + 1 == named_count);

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
