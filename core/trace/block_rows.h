#pragma once

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
    around(embedding, G::embedding, "embedding", "Token embedding", rows_of_D,
           "the rows of the tokens, and of their types"),
    around(position, G::position, "position", "Position embedding", rows_of_D,
           "the rows of the positions, where they are learned"),
    around(resid_in, G::resid_in, "resid_in", "Residual stream into the layer", rows_of_D,
           "what the layer before gave"),
    around(norm1, G::norm1, "norm1", "Norm of the attention", rows_of_D,
           "norm(resid_in); where norms stand after the sum, norm(resid_mid)"),
    around(attn_raw, G::output, "attn_raw", "Attention’s output before its norm", rows_of_D, "output"),
    around(attn_out, G::attn_out, "attn_out", "Attention’s output", rows_of_D,
           "output; where a norm stands behind the branch, norm(attn_raw)"),
    around(resid_mid, G::resid_mid, "resid_mid", "Residual stream after attention", rows_of_D,
           "resid_in + attn_out"),
    around(norm2, G::norm2, "norm2", "Norm of the MLP", rows_of_D,
           "norm(resid_mid); where norms stand after the sum, norm(resid_out)"),
    around(mlp_pre, G::mlp_pre, "mlp_pre", "MLP, in", rows_of_mlp, "norm2 · W_in + b_in"),
    around(mlp_gate, G::mlp_gate, "mlp_gate", "MLP, gate", rows_of_mlp, "norm2 · W_gate + b_gate"),
    around(mlp_act, G::mlp_act, "mlp_act", "MLP, after the activation", rows_of_mlp,
           "activation(mlp_pre); with a gate activation(mlp_gate) × mlp_pre"),
    around(router, G::mlp_act, "router", "Shares of the experts", axes(A::B, A::Tq, A::experts),
           "softmax over the largest of norm2 · W_router + b_router; 0 for the others"),
    around(mlp_raw, G::mlp_raw, "mlp_raw", "MLP’s output before its norm", rows_of_D,
           "mlp_act · W_out + b_out"),
    around(mlp_out, G::mlp_out, "mlp_out", "MLP’s output", rows_of_D,
           "mlp_act · W_out + b_out; where a norm stands behind the branch, norm(mlp_raw)"),
    around(resid_out, G::resid_out, "resid_out", "Residual stream out of the layer", rows_of_D,
           "resid_mid + mlp_out; in parallel layers resid_in + attn_out + mlp_out"),
    around(final_norm, G::final_norm, "final_norm", "Final norm", rows_of_D,
           "norm(resid_out of the last layer)"),
    around(logits, G::logits, "logits", "Logits", rows_of_vocab, "final_norm · W_U"),
    around(probabilities, G::probabilities, "probabilities", "Probabilities", rows_of_vocab,
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
    given(norm1_weight, "norm1_weight", "Weight of the attention’s norm", "γ", G::norm1, axes(A::D)),
    given(norm1_bias, "norm1_bias", "Bias of the attention’s norm", "β", G::norm1, axes(A::D)),
    given(norm1_after_weight, "norm1_after_weight", "Weight of the norm behind attention", "γ", G::attn_out,
          axes(A::D)),
    given(norm2_weight, "norm2_weight", "Weight of the MLP’s norm", "γ", G::norm2, axes(A::D)),
    given(norm2_bias, "norm2_bias", "Bias of the MLP’s norm", "β", G::norm2, axes(A::D)),
    given(norm2_after_weight, "norm2_after_weight", "Weight of the norm behind the MLP", "γ", G::mlp_out,
          axes(A::D)),
    given(W_in, "W_in", "MLP weights, in", "W_in", G::mlp_pre, axes(A::D, A::d_ff)),
    given(b_in, "b_in", "MLP bias, in", "b_in", G::mlp_pre, axes(A::d_ff)),
    given(W_gate, "W_gate", "MLP weights, gate", "W_gate", G::mlp_gate, axes(A::D, A::d_ff)),
    given(b_gate, "b_gate", "MLP bias, gate", "b_gate", G::mlp_gate, axes(A::d_ff)),
    given(W_out, "W_out", "MLP weights, out", "W_out", G::mlp_out, axes(A::d_ff, A::D)),
    given(b_out, "b_out", "MLP bias, out", "b_out", G::mlp_out, axes(A::D)),
    given(W_router, "W_router", "Weights of the router", "W_router", G::mlp_out, axes(A::D, A::experts)),
    given(b_router, "b_router", "Bias of the router", "b_router", G::mlp_out, axes(A::experts)),
    given(final_norm_weight, "final_norm_weight", "Weight of the final norm", "γ", G::final_norm, axes(A::D)),
    given(final_norm_bias, "final_norm_bias", "Bias of the final norm", "β", G::final_norm, axes(A::D)),
    given(W_E, "W_E", "Word table", "W_E", G::embedding, axes(A::vocab, A::D)),
    given(W_P, "W_P", "Position table", "W_P", G::position, axes(A::positions, A::D)),
    given(W_U, "W_U", "Output table", "W_U", G::logits, axes(A::vocab, A::D)),
    given(b_U, "b_U", "Output bias", "b_U", G::logits, axes(A::vocab)),
}};

} // namespace headscope::rows
