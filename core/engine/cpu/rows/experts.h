#pragma once

#include "core/engine/cpu/blocks.h"
#include "core/engine/cpu/dense.h"
#include "core/graph/attributes.h"

#include <cstdint>
#include <functional>

namespace headscope::cpu {

/// One matrix of an expert, and its bias.
struct ExpertLinear {
    Block W;                  ///< (d_in, d_out)
    const float* b = nullptr; ///< (d_out), or null
    TensorPtr owner = {};     ///< keeps the numbers; null if somebody else does
    TensorPtr owner_of_b = {};
};

/// An MLP with a gate; see open_gates.
struct Expert {
    ExpertLinear gate, in, out;
};

/// Sums the outputs of the experts of each token, weighted by their fractions: x (B, T, D), fractions
/// (B, T, experts), out (B, T, D). With scaled_input, fractions multiply what the experts read. Computes the
/// experts with a fraction above 0; `expert` returns one of them. The order of the sum is that of the
/// experts. Throws Error(cancelled).
void mix_experts(CpuDense& cpu, const Tensor& x, const Tensor& fractions,
                 const std::function<Expert(std::int64_t expert)>& expert, const graph::Gate& gate,
                 graph::Experts how, Tensor& out, const Progress& cancel);

/// Same, from the activations of all experts, (B, T, experts, d_ff). `W_out` returns the matrix of an expert.
void sum_experts(CpuDense& cpu, const Tensor& activations, const Tensor& fractions,
                 const std::function<ExpertLinear(std::int64_t expert)>& W_out, graph::Experts how,
                 Tensor& out, const Progress& cancel);

} // namespace headscope::cpu
