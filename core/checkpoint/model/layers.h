#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model.h"
#include "core/engine/cpu/dense.h"
#include "core/tensor/tensor.h"
#include "core/trace/tensor_id.h"

#include <functional>
#include <memory>

namespace headscope::checkpoint {

// The parts of a transformer around its attention. x is (B, T, width); each returns a new tensor.

using MutableTensor = std::shared_ptr<Tensor>;

/// weight and bias: (width); either may be null.
MutableTensor norm(cpu::CpuDense& cpu, const Tensor& x, NormKind kind, const Tensor* weight,
                   const Tensor* bias, double eps);

/// In place, number by number.
void activate(cpu::CpuDense& cpu, Tensor& x, Activation activation, const Progress& cancel);

/// x + y, of one shape.
MutableTensor sum(cpu::CpuDense& cpu, const Tensor& x, const Tensor& y);

/// Of each row, along the last axis.
TensorPtr softmax(const Tensor& x);

/// Gets what is computed on the way: mlp_pre, mlp_gate, mlp_act; of a mixture, router. What it writes into
/// the tensor is what the rest is computed from. A tensor may change afterwards. Empty: nobody asks, and an
/// MLP of many rows takes them in blocks.
using Note = std::function<void(TensorId id, Tensor& tensor)>;

/// The MLP of a layer: activation(x W_in + b) W_out + b, or with a gate
/// (activation(x W_gate + b) * (x W_in + b)) W_out + b.
MutableTensor mlp(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, Activation activation,
                  const Note& note, const Progress& cancel);

/// What the units of one expert are for rows x (B, T, D): (B, T, d_ff) each. See mixture.
struct ExpertUnits {
    MutableTensor gate, in; ///< x W_gate + b and x W_in + b
    MutableTensor act;      ///< what W_out multiplies
};
ExpertUnits expert_units(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, std::int64_t expert,
                         const Architecture& architecture, const Progress& cancel);

/// The mixture of experts of gpt-oss (OpenAI 2025). The router gives each token a number for each expert; the
/// softmax over the largest `used` of them says how much of these experts' outputs the token gets. An expert
/// is an MLP with a gate: with gate = min(x W_gate + b, limit) and in = x W_in + b within [-limit, limit],
/// (in + 1) gate sigmoid(slope gate) W_out + b.
MutableTensor mixture(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer,
                      const Architecture& architecture, const Note& note, const Progress& cancel);

} // namespace headscope::checkpoint
