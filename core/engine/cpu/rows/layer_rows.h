#pragma once

#include "core/engine/cpu/dense.h"
#include "core/graph/attributes.h"

#include <cstdint>
#include <span>

namespace headscope::cpu {

// The operations around attention in a transformer, row by row or number by number. x and y have the same
// shape unless stated otherwise; a row is a run of x.shape().back(0) numbers.

/// LayerNorm (`centered`) or RMSNorm of each row. weight, bias: one number for each column; either may be
/// null. Computed in double precision up to the weight.
void norm_rows(CpuDense& cpu, const Tensor& x, bool centered, const float* weight, const float* bias,
               double eps, Tensor& y);
/// In place.
void activate(CpuDense& cpu, std::span<float> x, graph::Function function, const Progress& cancel);
/// y = a + b.
void add(std::span<const float> a, std::span<const float> b, std::span<float> y);
/// y *= x.
void multiply_by(std::span<float> y, std::span<const float> x);
/// Softmax of each row, in double precision.
void softmax_rows(const Tensor& x, Tensor& y);
/// In place: a softmax over the largest `used` numbers of each row of `count` numbers, of equal ones the
/// first; 0 elsewhere.
void route_rows(std::span<float> numbers, std::int64_t count, std::int64_t used);
/// The slope in Function::gelu_quick, x sigmoid(slope x).
inline constexpr float gelu_quick_slope = 1.702F;
/// In place of `in`: (in + 1) gate sigmoid(slope gate), with gate at most `limit` and in within [-limit,
/// limit] (OpenAI 2025, gpt-oss).
void open_gates(std::span<float> in, std::span<const float> gates, float slope, float limit);

} // namespace headscope::cpu
