#pragma once

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
constexpr Row around(TensorId id, StageGroup group, std::string_view name, std::string_view title,
                     std::array<Axis, 4> axes, std::string_view formula) {
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
inline constexpr std::array<Axis, 4> rows_of_mlp = axes(A::B, A::Tq, A::d_ff);
inline constexpr std::array<Axis, 4> rows_of_vocab = axes(A::B, A::Tq, A::vocab);
inline constexpr std::array<Row, block_count> blocks{{
    around(embedding, G::embedding, "embedding", translatable("Token embedding"), rows_of_D,
           translatable("the rows of the tokens, and of their types")),
    around(position, G::position, "position", translatable("Position embedding"), rows_of_D,
           translatable("the rows of the positions, where they are learned")),
    around(resid_in, G::resid_in, "resid_in", translatable("Residual stream into the layer"), rows_of_D,
           translatable("what the layer before gave")),
    around(norm1, G::norm1, "norm1", translatable("Norm of the attention"), rows_of_D,
           translatable("norm(resid_in); where norms stand after the sum, norm(resid_mid)")),
    around(attn_raw, G::output, "attn_raw", translatable("Attention’s output before its norm"), rows_of_D,
           "output"),
    around(attn_out, G::attn_out, "attn_out", translatable("Attention’s output"), rows_of_D,
           translatable("output; where a norm stands behind the branch, norm(attn_raw)")),
    around(resid_mid, G::resid_mid, "resid_mid", translatable("Residual stream after attention"), rows_of_D,
           "resid_in + attn_out"),
    around(norm2, G::norm2, "norm2", translatable("Norm of the MLP"), rows_of_D,
           translatable("norm(resid_mid); where norms stand after the sum, norm(resid_out)")),
    around(mlp_pre, G::mlp_pre, "mlp_pre", translatable("MLP, in"), rows_of_mlp, "norm2 · W_in + b_in"),
    around(mlp_gate, G::mlp_gate, "mlp_gate", translatable("MLP, gate"), rows_of_mlp,
           "norm2 · W_gate + b_gate"),
    around(mlp_act, G::mlp_act, "mlp_act", translatable("MLP, after the activation"), rows_of_mlp,
           translatable("activation(mlp_pre); with a gate activation(mlp_gate) × mlp_pre")),
    around(router, G::mlp_act, "router", translatable("Shares of the experts"), axes(A::B, A::Tq, A::experts),
           translatable("softmax over the largest of norm2 · W_router + b_router; 0 for the others")),
    around(mlp_raw, G::mlp_raw, "mlp_raw", translatable("MLP’s output before its norm"), rows_of_D,
           "mlp_act · W_out + b_out"),
    around(mlp_out, G::mlp_out, "mlp_out", translatable("MLP’s output"), rows_of_D,
           translatable("mlp_act · W_out + b_out; where a norm stands behind the branch, norm(mlp_raw)")),
    around(resid_out, G::resid_out, "resid_out", translatable("Residual stream out of the layer"), rows_of_D,
           translatable("resid_mid + mlp_out; in parallel layers resid_in + attn_out + mlp_out")),
    around(final_norm, G::final_norm, "final_norm", translatable("Final norm"), rows_of_D,
           translatable("norm(resid_out of the last layer)")),
    around(logits, G::logits, "logits", translatable("Logits"), rows_of_vocab, "final_norm · W_U"),
    around(probabilities, G::probabilities, "probabilities", translatable("Probabilities"), rows_of_vocab,
           "softmax(logits)"),
}};

/// A row of the table for what is not computed; `group` says where it is read first.
constexpr Row given(TensorId id, std::string_view name, std::string_view title, std::string_view symbol,
                    StageGroup group, std::array<Axis, 4> axes) {
    return {.id = id,
            .name = name,
            .title = title,
            .symbol = symbol,
            .group = group,
            .axes = axes,
            .operation = Op::given,
            .inputs = {},
            .formula = "",
            .stage = false};
}

inline constexpr std::array<Row, block_weight_count> block_weights{{
    given(norm1_weight, "norm1_weight", translatable("Weight of the attention’s norm"), "γ", G::norm1,
          axes(A::D)),
    given(norm1_bias, "norm1_bias", translatable("Bias of the attention’s norm"), "β", G::norm1, axes(A::D)),
    given(norm1_after_weight, "norm1_after_weight", translatable("Weight of the norm behind attention"), "γ",
          G::attn_out, axes(A::D)),
    given(norm2_weight, "norm2_weight", translatable("Weight of the MLP’s norm"), "γ", G::norm2, axes(A::D)),
    given(norm2_bias, "norm2_bias", translatable("Bias of the MLP’s norm"), "β", G::norm2, axes(A::D)),
    given(norm2_after_weight, "norm2_after_weight", translatable("Weight of the norm behind the MLP"), "γ",
          G::mlp_out, axes(A::D)),
    given(W_in, "W_in", translatable("MLP weights, in"), "W_in", G::mlp_pre, axes(A::D, A::d_ff)),
    given(b_in, "b_in", translatable("MLP bias, in"), "b_in", G::mlp_pre, axes(A::d_ff)),
    given(W_gate, "W_gate", translatable("MLP weights, gate"), "W_gate", G::mlp_gate, axes(A::D, A::d_ff)),
    given(b_gate, "b_gate", translatable("MLP bias, gate"), "b_gate", G::mlp_gate, axes(A::d_ff)),
    given(W_out, "W_out", translatable("MLP weights, out"), "W_out", G::mlp_out, axes(A::d_ff, A::D)),
    given(b_out, "b_out", translatable("MLP bias, out"), "b_out", G::mlp_out, axes(A::D)),
    given(W_router, "W_router", translatable("Weights of the router"), "W_router", G::mlp_out,
          axes(A::D, A::experts)),
    given(b_router, "b_router", translatable("Bias of the router"), "b_router", G::mlp_out, axes(A::experts)),
    given(expert_W_gate, "expert_W_gate", translatable("Gate weights of the experts"), "W_gate", G::mlp_out,
          axes(A::experts, A::D, A::d_ff)),
    given(expert_b_gate, "expert_b_gate", translatable("Gate biases of the experts"), "b_gate", G::mlp_out,
          axes(A::experts, A::d_ff)),
    given(expert_W_in, "expert_W_in", translatable("Weights of the experts, in"), "W_in", G::mlp_out,
          axes(A::experts, A::D, A::d_ff)),
    given(expert_b_in, "expert_b_in", translatable("Biases of the experts, in"), "b_in", G::mlp_out,
          axes(A::experts, A::d_ff)),
    given(expert_W_out, "expert_W_out", translatable("Weights of the experts, out"), "W_out", G::mlp_out,
          axes(A::experts, A::d_ff, A::D)),
    given(expert_b_out, "expert_b_out", translatable("Biases of the experts, out"), "b_out", G::mlp_out,
          axes(A::experts, A::D)),
    given(final_norm_weight, "final_norm_weight", translatable("Weight of the final norm"), "γ",
          G::final_norm, axes(A::D)),
    given(final_norm_bias, "final_norm_bias", translatable("Bias of the final norm"), "β", G::final_norm,
          axes(A::D)),
    given(W_E, "W_E", translatable("Word table"), "W_E", G::embedding, axes(A::vocab, A::D)),
    given(W_P, "W_P", translatable("Position table"), "W_P", G::position, axes(A::positions, A::D)),
    given(W_type, "W_type", translatable("Token type table"), "W_type", G::embedding,
          axes(A::token_types, A::D)),
    given(W_U, "W_U", translatable("Output table"), "W_U", G::logits, axes(A::vocab, A::D)),
    given(b_U, "b_U", translatable("Output bias"), "b_U", G::logits, axes(A::vocab)),
}};

} // namespace headscope::rows
