#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/config.h"
#include "core/checkpoint/model.h"
#include "core/tensor/tensor.h"

#include <memory>

namespace headscope {

// The parts of a transformer around its attention. x is (B, T, width); each returns a new tensor. `cancel` is
// looked at between tiles of rows.

using MutableTensor = std::shared_ptr<Tensor>;

/// x W + b, W (d_in, d_out); b may be null.
MutableTensor linear(const Tensor& x, const Tensor& W, const Tensor* b, const Progress& cancel);

/// x tableᵀ + b, table (rows, width): the head of a language model. b may be null.
MutableTensor linear_by_rows(const Tensor& x, const Tensor& table, const Tensor* b, const Progress& cancel);

/// (x - mean) / sqrt(variance + eps) * gain + shift; without a shift RMSNorm: x / sqrt(mean square + eps) *
/// gain.
MutableTensor norm(const Tensor& x, const Tensor& gain, const Tensor* shift, double eps);

/// In place, number by number.
void activate(Tensor& x, Activation activation);

/// x + y, of one shape.
MutableTensor sum(const Tensor& x, const Tensor& y);

/// The MLP of a layer: activation(x W_in + b) W_out + b, or with a gate
/// (activation(x W_gate + b) * (x W_in + b)) W_out + b.
MutableTensor mlp(const Tensor& x, const WeightSet& layer, Activation activation, const Progress& cancel);

} // namespace headscope
