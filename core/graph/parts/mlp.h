#pragma once

#include "core/graph/builder.h"

namespace headscope::graph {

/// An MLP: function(x W_in + b_in) W_out + b_out, or with a gate
/// (function(x W_gate + b_gate) * (x W_in + b_in)) W_out + b_out (Shazeer 2020, "GLU Variants").
struct Mlp {
    Value W_in, W_out;
    OptionalValue W_gate = {};
    OptionalValue b_in = {}, b_gate = {}, b_out = {};
    Function function = Function::gelu;
    std::optional<GaussianTopK> sparse_gate = {}; ///< applied to the gate, before the function
};

/// Adds mlp_pre, mlp_gate (with a gate), mlp_sparse (with sparse_gate), mlp_act, and the result under
/// `label`: (B, Tq, D).
Value mlp(Builder& g, const Label& label, const Value& x, const Mlp& parts);

/// A mixture of experts (Shazeer et al. 2017; Fedus et al. 2022): each token's result is the sum of the
/// outputs of its experts, weighted by their fractions; or, with scaled_input, the plain sum of what experts
/// make of the token's vector times their fractions.
struct Mixture {
    Value W_router;                       ///< (D, experts)
    OptionalValue b_router = {};          ///< (experts)
    OptionalValue choice_bias = {};       ///< (experts); see Route
    Value W_gate, W_in;                   ///< (experts, D, d_ff)
    OptionalValue b_gate = {}, b_in = {}; ///< (experts, d_ff)
    Value W_out;                          ///< (experts, d_ff, D)
    OptionalValue b_out = {};             ///< (experts, D)
    Route route;
    Gate gate;
    Experts experts;
};

/// Adds router, routing, expert_gate, expert_in, expert_act, and the result under `label`.
Value mixture(Builder& g, const Label& label, const Value& x, const Mixture& parts);

} // namespace headscope::graph
