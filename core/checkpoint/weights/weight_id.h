#pragma once

#include <cstdint>

namespace headscope::checkpoint {

/// Every weight of a model, whatever its family calls it. Those from W_QKV on exist once per layer.
enum class WeightId : std::uint8_t {
    word_table,
    position_table,
    token_type_table,
    embedding_norm_weight,
    embedding_norm_bias,
    embedding_map, ///< (d_embed, D)
    embedding_map_bias,
    final_norm_weight,
    final_norm_bias,
    head_dense,
    head_dense_bias,
    head_norm_weight,
    head_norm_bias,
    output_table, ///< (vocab, D): the head multiplies by its transpose, as by the word table's
    output_bias,
    bucket_table, ///< (buckets, H): the biases of DistanceBuckets
    rel_table,    ///< (distances, D): vectors of relative positions
    rel_norm_weight,
    rel_norm_bias,
    copies_in,             ///< (copies - 1, D, D): makes each copy of the residual stream but the first
    copies_out,            ///< same: what is added to the first one at the end
    layer_table,           ///< (tokens, layers layer_width): the embeddings that layers have of their own
    layer_projection,      ///< (D, layers layer_width): makes a second part of them from the word embedding
    layer_projection_norm, ///< (layer_width)
    W_QKV,                 ///< W_Q, W_K and W_V in one tensor
    b_QKV,
    W_QG, ///< of each head the columns of W_Q, then those of W_G
    b_QG,
    W_UKV, ///< what W_K and W_V of LatentAttention are made of
    W_DQ,  ///< (D, Dq): makes the queries' vector
    b_DQ,
    q_latent_norm, ///< (Dq)
    W_DKV,         ///< (D, rank + rotary_width)
    b_DKV,
    kv_latent_norm, ///< (rank)
    W_Q,
    W_K,
    W_V,
    W_O,
    b_Q,
    b_K,
    b_V,
    b_O,
    W_KR, ///< makes keys of relative positions
    W_QR,
    b_KR,
    b_QR,
    W_G, ///< makes the gates of the head outputs
    b_G,
    q_norm, ///< of every query head
    k_norm,
    q_norm_all, ///< of all query heads together
    k_norm_all,
    sink,
    delta_W_QKVZ, ///< of each query head of a delta layer: its query, its key, its values and their gates
    delta_W_BA,   ///< of each query head its values' betas, then their decays
    delta_conv,   ///< (K, channels): of queries, then of keys, then of values
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
    norm1_weight, ///< the attention's norm
    norm1_bias,
    norm2_weight, ///< the MLP's
    norm2_bias,
    norm1_after_weight, ///< of the branch's output
    norm2_after_weight,
    router_norm,  ///< (D): of what the coefficients of the copies are made from
    W_copies,     ///< (D, copies): makes what they are products of
    W_predict,    ///< (copies, copies²)
    W_correct,    ///< (copies, copies)
    active_scale, ///< (D): see StreamCopies::scales_active
    laurel_left,  ///< (D, rank)
    laurel_right, ///< (rank, D)
    laurel_norm,
    layer_gate, ///< (D, layer_width): of the embedding that the layer has of its own
    layer_out,  ///< (layer_width, D)
    layer_norm,
    mlp_gate_in, ///< mlp_gate and mlp_in in one tensor
    mlp_gate,    ///< what the activation works on, where there are two
    mlp_gate_bias,
    mlp_in,
    mlp_in_bias,
    mlp_out,
    mlp_out_bias,
    router, ///< says which experts a token uses
    router_bias,
    router_choice_bias, ///< counts in the choice of the experts alone (DeepSeek-AI 2024, V3, section 2.1.2)
    shared_gate,        ///< (D, 1): its sigmoid multiplies the output of the MLP for all tokens
    experts_gate_in,    ///< of every expert mlp_gate and mlp_in, one column of each in turn
    experts_gate_in_bias,
    experts_gate, ///< of every expert what mlp_gate is of an MLP
    experts_gate_bias,
    experts_in,
    experts_in_bias,
    experts_out,
    experts_out_bias
};
inline constexpr int weight_count = 106;
static_assert(static_cast<int>(WeightId::experts_out_bias) + 1 == weight_count);
inline bool is_per_layer(WeightId weight) {
    return weight >= WeightId::W_QKV;
}

} // namespace headscope::checkpoint
