#pragma once

// Longer than 150 lines: one table.

#include "core/base/message.h"
#include "core/trace/stage.h"

#include <array>

/// Rows of the stage table for what a checkpoint has around its attention. For stage_table.cpp alone.
namespace headscope::rows {

using enum TensorId;
using A = Axis;
using Op = Operation;
using G = StageGroup;
using Row = TensorInfo;

constexpr std::array<Axis, 4> axes(A a = A::none, A b = A::none, A c = A::none, A d = A::none) {
    return {a, b, c, d};
}

/// A row of what a checkpoint computes around its attention.
constexpr Row around(TensorId id, StageGroup group, std::string_view name, Message title,
                     std::array<Axis, 4> axes, Message formula) {
    return {.id = id,
            .name = name,
            .title = title,
            .symbol = name,
            .group = group,
            .axes = axes,
            .operation = Op::around,
            .inputs = {},
            .formula = formula,
            .stage = false};
}

inline constexpr std::array<Axis, 4> rows_of_D = axes(A::B, A::Tq, A::D);
inline constexpr std::array<Axis, 4> rows_of_d_embed = axes(A::B, A::Tq, A::d_embed);
inline constexpr std::array<Axis, 4> rows_of_mlp = axes(A::B, A::Tq, A::d_ff);
inline constexpr std::array<Axis, 4> rows_of_vocab = axes(A::B, A::Tq, A::vocab);
inline constexpr std::array<Row, block_count> blocks{{
    around(embedding, G::embedding, "embedding",
           translatable("block_rows.token_embedding", "Token embedding"), rows_of_d_embed,
           translatable("block_rows.rows_tokens_types", "the embeddings of the tokens and of their types")),
    around(position, G::position, "position",
           translatable("block_rows.position_embedding", "Position embedding"), rows_of_d_embed,
           translatable("block_rows.rows_positions_learned",
                        "the embeddings of the positions, if they are learned")),
    around(resid_in, G::resid_in, "resid_in",
           translatable("block_rows.residual_stream_layer", "Residual stream into the layer"), rows_of_D,
           translatable("block_rows.layer_before_gave", "output of the previous layer")),
    around(norm1, G::norm1, "norm1", translatable("block_rows.norm_attention", "Norm of the attention"),
           rows_of_D,
           translatable("block_rows.norm_resid_norms_stand",
                        "norm(resid_in); in post-norm layers norm(resid_mid)")),
    around(
        delta_q, G::delta_qkv, "delta.q", translatable("block_rows.delta_queries", "Delta queries"),
        axes(A::B, A::Tq, A::delta_Hqk_dk),
        translatable("block_rows.delta_unit_queries",
                     "silu of the convolution of norm1 · W_q over the last tokens; each row has length 1")),
    around(
        delta_k, G::delta_qkv, "delta.k", translatable("block_rows.delta_keys", "Delta keys"),
        axes(A::B, A::Tq, A::delta_Hqk_dk),
        translatable("block_rows.delta_unit_keys",
                     "silu of the convolution of norm1 · W_k over the last tokens; each row has length 1")),
    around(delta_v, G::delta_qkv, "delta.v", translatable("block_rows.delta_values", "Delta values"),
           axes(A::B, A::Tq, A::delta_H_dv),
           translatable("block_rows.delta_convolved_values",
                        "silu of the convolution of norm1 · W_v over the last tokens")),
    around(delta_decay, G::delta_state, "delta.decay",
           translatable("block_rows.delta_decay", "Decay of the state"), axes(A::B, A::Tq, A::delta_H),
           untranslated("exp(−exp(A_log) · softplus(norm1 · W_a + dt_bias))")),
    around(delta_beta, G::delta_state, "delta.beta", translatable("block_rows.delta_beta", "Write strength"),
           axes(A::B, A::Tq, A::delta_H), untranslated("sigmoid(norm1 · W_b)")),
    around(delta_y, G::delta_state, "delta.y",
           translatable("block_rows.delta_read_out", "Read-out of the state"),
           axes(A::B, A::Tq, A::delta_H_dv),
           untranslated("q · S ÷ √dk,  S = decay · S + kᵀ · beta · (v − k · decay · S)")),
    around(delta_z, G::delta_out, "delta.z", translatable("block_rows.delta_gates", "Delta gates"),
           axes(A::B, A::Tq, A::delta_H_dv), untranslated("norm1 · W_z")),
    around(delta_out, G::delta_out, "delta.out",
           translatable("block_rows.delta_output", "Output of the delta layer"), rows_of_D,
           translatable("block_rows.delta_output_formula", "(norm(y) × silu(z)) · W_out")),
    around(attn_raw, G::output, "attn_raw",
           translatable("block_rows.attentions_output_before_norm",
                        "Attention’s output before its norm or scale"),
           rows_of_D, untranslated("output")),
    around(
        attn_out, G::attn_out, "attn_out", translatable("block_rows.attentions_output", "Attention’s output"),
        rows_of_D,
        translatable("block_rows.output_norm_stands_behind",
                     "output; with a norm after the branch norm(attn_raw), with a scale scale × attn_raw")),
    around(resid_mid, G::resid_mid, "resid_mid",
           translatable("block_rows.residual_stream_after", "Residual stream after attention"), rows_of_D,
           untranslated("resid_in + attn_out")),
    around(norm2, G::norm2, "norm2", translatable("block_rows.norm_mlp", "Norm of the MLP"), rows_of_D,
           translatable("block_rows.norm_resid_mid_norms",
                        "norm(resid_mid); in post-norm layers norm(resid_out)")),
    around(mlp_pre, G::mlp_pre, "mlp_pre", translatable("block_rows.mlp", "MLP, in"), rows_of_mlp,
           untranslated("norm2 · W_in + b_in")),
    around(mlp_gate, G::mlp_gate, "mlp_gate", translatable("block_rows.mlp_gate", "MLP, gate"), rows_of_mlp,
           untranslated("norm2 · W_gate + b_gate")),
    around(mlp_act, G::mlp_act, "mlp_act",
           translatable("block_rows.mlp_after_activation", "MLP, after the activation"), rows_of_mlp,
           translatable("block_rows.activation_mlp_pre_gate",
                        "activation(mlp_pre); with a gate activation(mlp_gate) × mlp_pre")),
    around(mlp_shared, G::mlp_shared, "mlp_shared",
           translatable("block_rows.shared_experts_output", "Output of the shared expert"), rows_of_D,
           translatable("block_rows.mlp_act_w_out_shared",
                        "mlp_act · W_out, in some models times a fraction of its own for each token")),
    around(routing, G::mlp_act, "routing", translatable("block_rows.shares_experts", "Expert fractions"),
           axes(A::B, A::Tq, A::experts),
           translatable("block_rows.softmax_over_largest_norm2",
                        "softmax over the largest of norm2 · W_router + b_router; 0 for the others")),
    around(mlp_experts, G::mlp_experts, "mlp_experts",
           translatable("block_rows.chosen_experts_output", "Output of the chosen experts"), rows_of_D,
           translatable("block_rows.sum_chosen_experts",
                        "the outputs of the chosen experts, each times its fraction")),
    around(mlp_raw, G::mlp_raw, "mlp_raw",
           translatable("block_rows.mlps_output_before_norm", "MLP’s output before its norm or scale"),
           rows_of_D, untranslated("mlp_act · W_out + b_out")),
    around(mlp_out, G::mlp_out, "mlp_out", translatable("block_rows.mlps_output", "MLP’s output"), rows_of_D,
           translatable("block_rows.mlp_act_w_out",
                        "mlp_act · W_out + b_out; with a norm after the branch norm(mlp_raw), with a scale "
                        "scale × mlp_raw")),
    around(resid_out, G::resid_out, "resid_out",
           translatable("block_rows.residual_stream_out_layer", "Residual stream out of the layer"),
           rows_of_D,
           translatable("block_rows.resid_mid_mlp_out",
                        "resid_mid + mlp_out; in parallel layers resid_in + attn_out + mlp_out")),
    around(final_norm, G::final_norm, "final_norm", translatable("block_rows.final_norm", "Final norm"),
           rows_of_D, translatable("block_rows.norm_resid_out_last", "norm(resid_out of the last layer)")),
    around(logits, G::logits, "logits", translatable("block_rows.logits", "Logits"), rows_of_vocab,
           untranslated("final_norm · W_U")),
    around(probabilities, G::probabilities, "probabilities",
           translatable("block_rows.probabilities", "Probabilities"), rows_of_vocab,
           untranslated("softmax(logits)")),
}};

/// A row of the table for what is not computed; `group` says where it is read first.
constexpr Row given(TensorId id, std::string_view name, Message title, std::string_view symbol,
                    StageGroup group, std::array<Axis, 4> axes) {
    return {.id = id,
            .name = name,
            .title = title,
            .symbol = symbol,
            .group = group,
            .axes = axes,
            .operation = Op::given,
            .inputs = {},
            .formula = {},
            .stage = false};
}

inline constexpr std::array<Row, block_weight_count> block_weights{{
    given(norm1_weight, "norm1_weight",
          translatable("block_rows.weight_attentions_norm", "Weight of the attention’s norm"), "γ", G::norm1,
          axes(A::D)),
    given(norm1_bias, "norm1_bias",
          translatable("block_rows.bias_attentions_norm", "Bias of the attention’s norm"), "β", G::norm1,
          axes(A::D)),
    given(norm1_after_weight, "norm1_after_weight",
          translatable("block_rows.weight_norm_behind_attention", "Weight of the norm after attention"), "γ",
          G::attn_out, axes(A::D)),
    given(norm2_weight, "norm2_weight",
          translatable("block_rows.weight_mlps_norm", "Weight of the MLP’s norm"), "γ", G::norm2, axes(A::D)),
    given(norm2_bias, "norm2_bias", translatable("block_rows.bias_mlps_norm", "Bias of the MLP’s norm"), "β",
          G::norm2, axes(A::D)),
    given(norm2_after_weight, "norm2_after_weight",
          translatable("block_rows.weight_norm_behind_mlp", "Weight of the norm after the MLP"), "γ",
          G::mlp_out, axes(A::D)),
    given(W_in, "W_in", translatable("block_rows.mlp_weights", "MLP weights, in"), "W_in", G::mlp_pre,
          axes(A::D, A::d_ff)),
    given(b_in, "b_in", translatable("block_rows.mlp_bias", "MLP bias, in"), "b_in", G::mlp_pre,
          axes(A::d_ff)),
    given(W_gate, "W_gate", translatable("block_rows.mlp_weights_gate", "MLP weights, gate"), "W_gate",
          G::mlp_gate, axes(A::D, A::d_ff)),
    given(b_gate, "b_gate", translatable("block_rows.mlp_bias_gate", "MLP bias, gate"), "b_gate", G::mlp_gate,
          axes(A::d_ff)),
    given(W_out, "W_out", translatable("block_rows.mlp_weights_out", "MLP weights, out"), "W_out", G::mlp_out,
          axes(A::d_ff, A::D)),
    given(b_out, "b_out", translatable("block_rows.mlp_bias_out", "MLP bias, out"), "b_out", G::mlp_out,
          axes(A::D)),
    given(W_router, "W_router", translatable("block_rows.weights_router", "Weights of the router"),
          "W_router", G::mlp_out, axes(A::D, A::experts)),
    given(b_router, "b_router", translatable("block_rows.bias_router", "Bias of the router"), "b_router",
          G::mlp_out, axes(A::experts)),
    given(expert_W_gate, "expert_W_gate",
          translatable("block_rows.gate_weights_experts", "Gate weights of the experts"), "W_gate",
          G::mlp_out, axes(A::experts, A::D, A::d_expert)),
    given(expert_b_gate, "expert_b_gate",
          translatable("block_rows.gate_biases_experts", "Gate biases of the experts"), "b_gate", G::mlp_out,
          axes(A::experts, A::d_expert)),
    given(expert_W_in, "expert_W_in",
          translatable("block_rows.weights_experts", "Weights of the experts, in"), "W_in", G::mlp_out,
          axes(A::experts, A::D, A::d_expert)),
    given(expert_b_in, "expert_b_in", translatable("block_rows.biases_experts", "Biases of the experts, in"),
          "b_in", G::mlp_out, axes(A::experts, A::d_expert)),
    given(expert_W_out, "expert_W_out",
          translatable("block_rows.weights_experts_out", "Weights of the experts, out"), "W_out", G::mlp_out,
          axes(A::experts, A::d_expert, A::D)),
    given(expert_b_out, "expert_b_out",
          translatable("block_rows.biases_experts_out", "Biases of the experts, out"), "b_out", G::mlp_out,
          axes(A::experts, A::D)),
    given(final_norm_weight, "final_norm_weight",
          translatable("block_rows.weight_final_norm", "Weight of the final norm"), "γ", G::final_norm,
          axes(A::D)),
    given(final_norm_bias, "final_norm_bias",
          translatable("block_rows.bias_final_norm", "Bias of the final norm"), "β", G::final_norm,
          axes(A::D)),
    given(W_E, "W_E", translatable("common.word_table", "Embedding table"), "W_E", G::embedding,
          axes(A::vocab, A::d_embed)),
    given(W_P, "W_P", translatable("common.position_table", "Position table"), "W_P", G::position,
          axes(A::positions, A::d_embed)),
    given(W_type, "W_type", translatable("block_rows.token_type_table", "Token type table"), "W_type",
          G::embedding, axes(A::token_types, A::d_embed)),
    given(W_R, "W_R", translatable("block_rows.relative_table", "Table of relative positions"), "W_R",
          G::position, axes(A::distances, A::D)),
    given(W_U, "W_U", translatable("block_rows.output_table", "Output table"), "W_U", G::logits,
          axes(A::vocab, A::d_embed)),
    given(b_U, "b_U", translatable("common.output_bias", "Output bias"), "b_U", G::logits, axes(A::vocab)),
}};

} // namespace headscope::rows
