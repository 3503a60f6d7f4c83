#pragma once

// Longer than 150 lines: one table.

#include "core/graph/node.h"

/// The words for the nodes of transformers. Their names are those of files and of the command line.
namespace headscope::graph::labels {

// Attention.
inline constexpr Label x{"x", translatable("common.token_vectors", "Token vectors"), "X", Step::x};
inline constexpr Label x_kv{"x_kv", translatable("stage_table.key_value_source", "Key and value source"),
                            "X_kv", Step::qkv};
inline constexpr Label q{"q", translatable("common.queries", "Queries"), "Q", Step::qkv};
inline constexpr Label k{"k", translatable("common.keys", "Keys"), "K", Step::qkv};
inline constexpr Label v{"v", translatable("common.values", "Values"), "V", Step::qkv};
inline constexpr Label q_normed{"q_normed", translatable("stage_table.normed_queries", "Normed queries"),
                                "Q_n", Step::split};
inline constexpr Label k_normed{"k_normed", translatable("stage_table.normed_keys", "Normed keys"), "K_n",
                                Step::split};
inline constexpr Label v_normed{"v_normed", translatable("stage_table.normed_values", "Normed values"), "V_n",
                                Step::split};
inline constexpr Label q_heads{"q_heads", translatable("stage_table.queries_head", "Queries by head"), "Q_h",
                               Step::split};
inline constexpr Label k_heads{"k_heads", translatable("stage_table.keys_head", "Keys by head"), "K_h",
                               Step::split};
inline constexpr Label v_heads{"v_heads", translatable("stage_table.values_head", "Values by head"), "V_h",
                               Step::split};
inline constexpr Label pos_keys{
    "pos_keys", translatable("stage_table.position_keys", "Keys of relative positions"), "K_R", Step::c2p};
inline constexpr Label pos_queries{
    "pos_queries", translatable("stage_table.position_queries", "Queries of relative positions"), "Q_R",
    Step::p2c};
inline constexpr Label c2p{"c2p", translatable("stage_table.content_to_position", "Content to position"),
                           "c2p", Step::c2p};
inline constexpr Label p2c{"p2c", translatable("stage_table.position_to_content", "Position to content"),
                           "p2c", Step::p2c};
inline constexpr Label scores{"scores", translatable("stage_table.scores", "Scores"), "S", Step::scores};
inline constexpr Label scaled{"scaled", translatable("stage_table.scaled_scores", "Scaled scores"), "S / √dk",
                              Step::scaled};
inline constexpr Label masked{"masked", translatable("stage_table.masked_scores", "Masked scores"), "S + M",
                              Step::masked};
inline constexpr Label weights{"weights", translatable("common.attention_weights", "Attention weights"), "A",
                               Step::weights};
inline constexpr Label weights_mean{
    "weights_mean", translatable("stage_table.mean_over_heads", "Mean over heads"), "Ā", Step::weights};
inline constexpr Label head_out{"head_out", translatable("common.head_outputs", "Head outputs"), "O_h",
                                Step::head_out};
inline constexpr Label gate_columns{"gate_columns", untranslated("gate_columns"), "G", Step::gate};
inline constexpr Label gate{"gate", translatable("stage_table.gates", "Gates"), "G_h", Step::gate};
inline constexpr Label head_out_gated{"head_out_gated",
                                      translatable("stage_table.gated_head_outputs", "Gated head outputs"),
                                      "O_h'", Step::gate};
inline constexpr Label concat{"concat", translatable("common.concatenation", "Concatenation"), "O",
                              Step::concat};
inline constexpr Label contributions{
    "contributions", translatable("stage_table.contributions", "Contributions"), "C_h", Step::contributions};
inline constexpr Label output{"output", translatable("common.output_projection", "Output projection"), "Y",
                              Step::output};

// The inputs of attention.
inline constexpr Label W_Q{"W_Q", translatable("stage_table.query_weights", "Query weights"), "W_Q",
                           Step::qkv};
inline constexpr Label W_K{"W_K", translatable("stage_table.key_weights", "Key weights"), "W_K", Step::qkv};
inline constexpr Label W_V{"W_V", translatable("stage_table.value_weights", "Value weights"), "W_V",
                           Step::qkv};
inline constexpr Label W_O{"W_O", translatable("stage_table.output_weights", "Output weights"), "W_O",
                           Step::output};
inline constexpr Label W_G{"W_G", translatable("stage_table.gate_weights", "Gate weights"), "W_G",
                           Step::gate};
inline constexpr Label b_G{"b_G", translatable("stage_table.gate_bias", "Gate bias"), "b_G", Step::gate};
inline constexpr Label rel_positions{
    "rel_positions", translatable("stage_table.relative_positions", "Vectors of relative positions"), "R",
    Step::c2p};
inline constexpr Label W_KR{"W_KR", translatable("stage_table.position_key_weights", "Position key weights"),
                            "W_KR", Step::c2p};
inline constexpr Label W_QR{
    "W_QR", translatable("stage_table.position_query_weights", "Position query weights"), "W_QR", Step::p2c};
inline constexpr Label b_KR{"b_KR", translatable("stage_table.position_key_bias", "Position key bias"),
                            "b_KR", Step::c2p};
inline constexpr Label b_QR{"b_QR", translatable("stage_table.position_query_bias", "Position query bias"),
                            "b_QR", Step::p2c};
inline constexpr Label b_Q{"b_Q", translatable("stage_table.query_bias", "Query bias"), "b_Q", Step::qkv};
inline constexpr Label b_K{"b_K", translatable("stage_table.key_bias", "Key bias"), "b_K", Step::qkv};
inline constexpr Label b_V{"b_V", translatable("stage_table.value_bias", "Value bias"), "b_V", Step::qkv};
inline constexpr Label b_O{"b_O", translatable("common.output_bias", "Output bias"), "b_O", Step::output};
inline constexpr Label mask{"mask", translatable("common.mask_2", "Mask"), "M", Step::masked};
inline constexpr Label allowed{"allowed", untranslated("allowed"), "allowed", Step::masked};
inline constexpr Label key_valid{"key_valid", untranslated("key_valid"), "key_valid", Step::masked};
inline constexpr Label token_valid{"token_valid", untranslated("token_valid"), "token_valid",
                                   Step::delta_qkv};
inline constexpr Label gain{"gain", translatable("stage_table.head_gains", "Head gains"), "g_h",
                            Step::concat};
inline constexpr Label temperature{"temperature", translatable("common.temperature_2", "Temperature"), "τ",
                                   Step::scaled};
inline constexpr Label rotary_cos{"rotary.cos",
                                  translatable("stage_table.cosines_rotation", "Cosines of the rotation"),
                                  "cos", Step::split};
inline constexpr Label rotary_sin{
    "rotary.sin", translatable("stage_table.sines_rotation", "Sines of the rotation"), "sin", Step::split};
inline constexpr Label query_scale{
    "query_scale", translatable("stage_table.query_scale", "Scale of the queries"), "s_i", Step::split};
inline constexpr Label ones{"ones", untranslated("ones"), "1", Step::split};
inline constexpr Label q_norm{"q_norm", translatable("stage_table.query_norm_weights", "Query norm weights"),
                              "q_norm", Step::split};
inline constexpr Label k_norm{"k_norm", translatable("stage_table.key_norm_weights", "Key norm weights"),
                              "k_norm", Step::split};
inline constexpr Label q_norm_all{
    "q_norm_all", translatable("stage_table.query_norm_weights_all", "Query norm weights of all heads"),
    "q_norm_all", Step::split};
inline constexpr Label k_norm_all{
    "k_norm_all", translatable("stage_table.key_norm_weights_all", "Key norm weights of all heads"),
    "k_norm_all", Step::split};
inline constexpr Label v_norm{"v_norm", translatable("stage_table.value_norm_weights", "Value norm weights"),
                              "v_norm", Step::split};
inline constexpr Label sink{"sink", translatable("stage_table.sink_scores", "Sink scores"), "s_h",
                            Step::weights};

// The tokens, before the first layer.
inline constexpr Label ids{"ids", untranslated("ids"), "ids", Step::embedding};
inline constexpr Label type_ids{"type_ids", untranslated("type_ids"), "type_ids", Step::embedding};
inline constexpr Label positions{"positions", untranslated("positions"), "positions", Step::position};
inline constexpr Label word_embedding{"word_embedding",
                                      translatable("block_rows.token_embedding", "Token embedding"),
                                      "word_embedding", Step::embedding};
inline constexpr Label type_embedding{"type_embedding", untranslated("type_embedding"), "type_embedding",
                                      Step::embedding};
inline constexpr Label embedding{"embedding", translatable("block_rows.token_embedding", "Token embedding"),
                                 "embedding", Step::embedding};
inline constexpr Label position{"position",
                                translatable("block_rows.position_embedding", "Position embedding"),
                                "position", Step::position};
inline constexpr Label embedding_sum{"embedding_sum", untranslated("embedding + position"), "embedding_sum",
                                     Step::position};
inline constexpr Label embedding_norm{"embedding_norm", untranslated("norm"), "embedding_norm",
                                      Step::position};

inline constexpr Label embedding_mapped{"embedding_mapped", untranslated("embedding_mapped"),
                                        "embedding_mapped", Step::position};

// A layer around its attention.
inline constexpr Label resid_in{
    "resid_in", translatable("block_rows.residual_stream_layer", "Residual stream into the layer"),
    "resid_in", Step::resid_in};
inline constexpr Label norm1{"norm1", translatable("block_rows.norm_attention", "Norm of the attention"),
                             "norm1", Step::norm1};
inline constexpr Label q_latent{"q_latent", untranslated("q_latent"), "q_latent", Step::x};
inline constexpr Label q_down{"q_down", untranslated("q_down"), "q_down", Step::x};
inline constexpr Label kv_down{"kv_down", untranslated("kv_down"), "kv_down", Step::x};
inline constexpr Label kv_latent_raw{"kv_latent_raw", untranslated("kv_latent_raw"), "kv_latent_raw",
                                     Step::x};
inline constexpr Label kv_latent{"kv_latent", untranslated("kv_latent"), "kv_latent", Step::x};
inline constexpr Label k_rotary{"k_rotary", untranslated("k_rotary"), "k_rotary", Step::x};

// A delta layer.
inline constexpr Label delta_x{"delta.x", untranslated("delta.x"), "delta.x", Step::delta_qkv};
inline constexpr Label delta_q{"delta.q", translatable("block_rows.delta_queries", "Delta queries"),
                               "delta.q", Step::delta_qkv};
inline constexpr Label delta_k{"delta.k", translatable("block_rows.delta_keys", "Delta keys"), "delta.k",
                               Step::delta_qkv};
inline constexpr Label delta_v{"delta.v", translatable("block_rows.delta_values", "Delta values"), "delta.v",
                               Step::delta_qkv};
inline constexpr Label delta_decay{"delta.decay",
                                   translatable("block_rows.delta_decay", "Decay of the state"),
                                   "delta.decay", Step::delta_state};
inline constexpr Label delta_beta{"delta.beta", translatable("block_rows.delta_beta", "Write strength"),
                                  "delta.beta", Step::delta_state};
inline constexpr Label delta_y{"delta.y", translatable("block_rows.delta_read_out", "Read-out of the state"),
                               "delta.y", Step::delta_state};
inline constexpr Label delta_heads{"delta.y_heads", untranslated("delta.y_heads"), "delta.y_heads",
                                   Step::delta_out};
inline constexpr Label delta_z{"delta.z", translatable("block_rows.delta_gates", "Delta gates"), "delta.z",
                               Step::delta_out};
inline constexpr Label delta_out{"delta.out",
                                 translatable("block_rows.delta_output", "Output of the delta layer"),
                                 "delta.out", Step::delta_out};

inline constexpr Label attn_raw{
    "attn_raw",
    translatable("block_rows.attentions_output_before_norm", "Attention’s output before its norm or scale"),
    "attn_raw", Step::output};
inline constexpr Label attn_out{"attn_out",
                                translatable("block_rows.attentions_output", "Attention’s output"),
                                "attn_out", Step::attn_out};
inline constexpr Label resid_mid{
    "resid_mid", translatable("block_rows.residual_stream_after", "Residual stream after attention"),
    "resid_mid", Step::resid_mid};
inline constexpr Label norm2{"norm2", translatable("block_rows.norm_mlp", "Norm of the MLP"), "norm2",
                             Step::norm2};
inline constexpr Label mlp_pre{"mlp_pre", translatable("block_rows.mlp", "MLP, in"), "mlp_pre",
                               Step::mlp_pre};
inline constexpr Label mlp_gate{"mlp_gate", translatable("block_rows.mlp_gate", "MLP, gate"), "mlp_gate",
                                Step::mlp_gate};
inline constexpr Label mlp_act{"mlp_act",
                               translatable("block_rows.mlp_after_activation", "MLP, after the activation"),
                               "mlp_act", Step::mlp_act};
inline constexpr Label shared_raw{"shared_raw", untranslated("shared_raw"), "shared_raw", Step::mlp_shared};
inline constexpr Label shared_gate{"shared_gate", untranslated("shared_gate"), "shared_gate",
                                   Step::mlp_shared};
inline constexpr Label shared_fraction{"shared_fraction", untranslated("shared_fraction"), "shared_fraction",
                                       Step::mlp_shared};
inline constexpr Label mlp_shared{
    "mlp_shared", translatable("block_rows.shared_experts_output", "Output of the shared expert"),
    "mlp_shared", Step::mlp_shared};
inline constexpr Label shared_out{
    "shared_out", translatable("block_rows.shared_experts_output", "Output of the shared expert"),
    "shared_out", Step::mlp_shared};
inline constexpr Label mlp_experts{
    "mlp_experts", translatable("block_rows.chosen_experts_output", "Output of the chosen experts"),
    "mlp_experts", Step::mlp_experts};
inline constexpr Label router{"router", untranslated("router"), "router", Step::routing};
inline constexpr Label routing{"routing", translatable("block_rows.shares_experts", "Expert fractions"),
                               "routing", Step::routing};
inline constexpr Label expert_in{"expert_in", translatable("block_rows.mlp", "MLP, in"), "expert_in",
                                 Step::mlp_act};
inline constexpr Label expert_gate{"expert_gate", translatable("block_rows.mlp_gate", "MLP, gate"),
                                   "expert_gate", Step::mlp_act};
inline constexpr Label expert_act{
    "expert_act", translatable("block_rows.mlp_after_activation", "MLP, after the activation"), "expert_act",
    Step::mlp_act};
inline constexpr Label mlp_raw{
    "mlp_raw", translatable("block_rows.mlps_output_before_norm", "MLP’s output before its norm or scale"),
    "mlp_raw", Step::mlp_raw};
inline constexpr Label mlp_out{"mlp_out", translatable("block_rows.mlps_output", "MLP’s output"), "mlp_out",
                               Step::mlp_out};
inline constexpr Label resid_out{
    "resid_out", translatable("block_rows.residual_stream_out_layer", "Residual stream out of the layer"),
    "resid_out", Step::resid_out};

// Several copies of the residual stream.
inline constexpr Label layer_ids{"layer_ids", untranslated("layer_ids"), "ids", Step::position};
inline constexpr Label copied{"copied", untranslated("copied"), "copied", Step::position};
inline constexpr Label copy_projected{"copy_projected", untranslated("copy_projected"), "copy_projected",
                                      Step::position};
inline constexpr Label layer_embeddings{"layer_embeddings", untranslated("layer_embeddings"),
                                        "layer_embeddings", Step::position};
inline constexpr Label layer_projections_raw{"layer_projections_raw", untranslated("layer_projections_raw"),
                                             "layer_projections_raw", Step::position};
inline constexpr Label layer_projections{"layer_projections", untranslated("layer_projections"),
                                         "layer_projections", Step::position};
inline constexpr Label layer_embedding{"layer_embedding", untranslated("layer_embedding"), "layer_embedding",
                                       Step::layer_out};
inline constexpr Label layer_projection{"layer_projection", untranslated("layer_projection"),
                                        "layer_projection", Step::layer_out};
inline constexpr Label layer_projection_normed{"layer_projection_normed",
                                               untranslated("layer_projection_normed"),
                                               "layer_projection_normed", Step::layer_out};
inline constexpr Label layer_in_sum{"layer_in_sum", untranslated("layer_in_sum"), "layer_in_sum",
                                    Step::layer_out};
inline constexpr Label layer_in{"layer_in", untranslated("layer_in"), "layer_in", Step::layer_out};
inline constexpr Label predict_normed{"altup.predict_normed", untranslated("altup.predict_normed"),
                                      "predict_normed", Step::predicted};
inline constexpr Label predict_scaled{"altup.predict_scaled", untranslated("altup.predict_scaled"),
                                      "predict_scaled", Step::predicted};
inline constexpr Label predict_routed{"altup.predict_routed", untranslated("altup.predict_routed"),
                                      "predict_routed", Step::predicted};
inline constexpr Label predict_modalities{"altup.predict_modalities",
                                          untranslated("altup.predict_modalities"), "predict_modalities",
                                          Step::predicted};
inline constexpr Label predict_coefficients{"altup.predict_coefficients",
                                            untranslated("altup.predict_coefficients"), "P", Step::predicted};
inline constexpr Label predicted{"predicted",
                                 translatable("block_rows.predicted", "Prediction of the active copy"),
                                 "predicted", Step::predicted};
inline constexpr Label laurel_left{"laurel.left", untranslated("laurel.left"), "laurel.left", Step::laurel};
inline constexpr Label laurel_right{"laurel.right", untranslated("laurel.right"), "laurel.right",
                                    Step::laurel};
inline constexpr Label laurel_normed{"laurel.normed", untranslated("laurel.normed"), "laurel.normed",
                                     Step::laurel};
inline constexpr Label laurel_out{"laurel_out",
                                  translatable("block_rows.laurel_out", "Output of the low-rank branch"),
                                  "laurel_out", Step::laurel};
inline constexpr Label resid_sum{"resid_sum", untranslated("resid_sum"), "resid_sum", Step::resid_mid};
inline constexpr Label mlp_sparse{"mlp_sparse",
                                  translatable("block_rows.mlp_sparse", "MLP, gate above its cutoff"),
                                  "mlp_sparse", Step::mlp_sparse};
inline constexpr Label activated{"activated",
                                 translatable("block_rows.activated", "Active copy after attention and MLP"),
                                 "activated", Step::activated};
inline constexpr Label correct_normed{"altup.correct_normed", untranslated("altup.correct_normed"),
                                      "correct_normed", Step::corrected};
inline constexpr Label correct_scaled{"altup.correct_scaled", untranslated("altup.correct_scaled"),
                                      "correct_scaled", Step::corrected};
inline constexpr Label correct_routed{"altup.correct_routed", untranslated("altup.correct_routed"),
                                      "correct_routed", Step::corrected};
inline constexpr Label correct_modalities{"altup.correct_modalities",
                                          untranslated("altup.correct_modalities"), "correct_modalities",
                                          Step::corrected};
inline constexpr Label correct_coefficients{"altup.correct_coefficients",
                                            untranslated("altup.correct_coefficients"), "c", Step::corrected};
inline constexpr Label minus_predicted{"altup.minus_predicted", untranslated("altup.minus_predicted"),
                                       "minus_predicted", Step::corrected};
inline constexpr Label innovation{"altup.innovation", untranslated("altup.innovation"), "innovation",
                                  Step::corrected};
inline constexpr Label corrected{"corrected",
                                 translatable("block_rows.corrected", "Correction of the active copy"),
                                 "corrected", Step::corrected};
inline constexpr Label corrected_scaled{"corrected_scaled", untranslated("corrected_scaled"),
                                        "corrected_scaled", Step::layer_out};
inline constexpr Label layer_gate{"layer_gate", untranslated("layer_gate"), "layer_gate", Step::layer_out};
inline constexpr Label layer_act{"layer_act", untranslated("layer_act"), "layer_act", Step::layer_out};
inline constexpr Label layer_raw{"layer_raw", untranslated("layer_raw"), "layer_raw", Step::layer_out};
inline constexpr Label layer_out{"layer_out",
                                 translatable("block_rows.layer_out", "Output of the layer’s own embedding"),
                                 "layer_out", Step::layer_out};
inline constexpr Label unembedded{"unembedded", untranslated("unembedded"), "unembedded", Step::merged};
inline constexpr Label uncopied{"uncopied", untranslated("uncopied"), "uncopied", Step::merged};
inline constexpr Label copies_sum{"copies_sum", untranslated("copies_sum"), "copies_sum", Step::merged};
inline constexpr Label merged{"merged", translatable("block_rows.merged", "Mean of the copies"), "merged",
                              Step::merged};

// After the last layer.
inline constexpr Label final_norm{"final_norm", translatable("block_rows.final_norm", "Final norm"),
                                  "final_norm", Step::final_norm};
inline constexpr Label head_scaled{"head_scaled", untranslated("head_scaled"), "head_scaled", Step::logits};
inline constexpr Label head_dense{"head_dense", untranslated("head_dense"), "head_dense", Step::logits};
inline constexpr Label head_act{"head_act", untranslated("head_act"), "head_act", Step::logits};
inline constexpr Label head_norm{"head_norm", untranslated("head_norm"), "head_norm", Step::logits};
inline constexpr Label logits_raw{"logits_raw", untranslated("logits_raw"), "logits_raw", Step::logits};
inline constexpr Label logits{"logits", translatable("block_rows.logits", "Logits"), "logits", Step::logits};
inline constexpr Label probabilities{"probabilities",
                                     translatable("block_rows.probabilities", "Probabilities"),
                                     "probabilities", Step::probabilities};
inline constexpr Label alibi{"alibi", untranslated("ALiBi"), "mask", Step::masked};
inline constexpr Label distance_bias{"distance_bias", untranslated("distance_bias"), "mask", Step::masked};
inline constexpr Label key_places{"key_places", untranslated("key_places"), "key_places", Step::masked};

} // namespace headscope::graph::labels
