#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/families/architecture.h"
#include "core/checkpoint/model/model.h"
#include "core/engine/cpu/dense.h"
#include "core/tensor/tensor.h"
#include "core/trace/tensor_id.h"

#include <functional>
#include <memory>

namespace headscope::checkpoint {

// The parts of a transformer around its attention. x is (B, T, width); each returns a new tensor.

using MutableTensor = std::shared_ptr<Tensor>;

/// weight and bias: (width); bias may be null.
MutableTensor norm(cpu::CpuDense& cpu, const Tensor& x, NormKind kind, const Tensor& weight,
                   const Tensor* bias, double eps);

/// In place, number by number.
void activate(cpu::CpuDense& cpu, Tensor& x, Activation activation, const Progress& cancel);

/// x + y, of one shape.
MutableTensor sum(cpu::CpuDense& cpu, const Tensor& x, const Tensor& y);

/// Gets what is computed on the way: mlp_pre, mlp_gate, mlp_act. A tensor may change afterwards.
using Note = std::function<void(TensorId id, const Tensor& tensor)>;

/// The MLP of a layer: activation(x W_in + b) W_out + b, or with a gate
/// (activation(x W_gate + b) * (x W_in + b)) W_out + b.
MutableTensor mlp(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, Activation activation,
                  const Note& note, const Progress& cancel);

} // namespace headscope::checkpoint
