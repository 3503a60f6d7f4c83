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
/// Scales each row of x to the root mean square of the same row of `like`. A mean square below `least` counts
/// as `least` in x. Computed in double precision.
void match_magnitudes(CpuDense& cpu, const Tensor& x, const Tensor& like, double least, Tensor& y);
/// y += (offset + the number of the row in a column of `coefficients`) x.
void add_scaled_rows(const Tensor& coefficients, std::int64_t column, float offset, const Tensor& x,
                     Tensor& y);
/// relu(x − cutoff), where the cutoff of a row is its mean plus so many standard deviations. Computed in
/// double precision.
void keep_gaussian_top(CpuDense& cpu, const Tensor& x, double deviations, Tensor& y);
/// In place.
void activate(CpuDense& cpu, std::span<float> x, graph::Function function, const Progress& cancel);
/// y = a + b.
void add(std::span<const float> a, std::span<const float> b, std::span<float> y);
/// y *= x.
void multiply_by(std::span<float> y, std::span<const float> x);
/// Softmax of each row, in double precision.
void softmax_rows(const Tensor& x, Tensor& y);
/// In place: the fractions of the experts, from rows of `count` numbers, as the route says; of equal numbers
/// the first is chosen. choice_bias: (count), or null.
void route_rows(std::span<float> numbers, std::int64_t count, const graph::Route& route,
                const float* choice_bias);
/// The slope in Function::gelu_quick, x sigmoid(slope x).
inline constexpr float gelu_quick_slope = 1.702F;
/// Returns true if open_gates() can compute the gate: a plain one, or that of gpt-oss.
bool has_gate_kernel(const graph::Gate& gate);
/// In place of `in`: function(gate) in; or (in + 1) gate sigmoid(1.702 gate), with gate at most `limit` and
/// in within [-limit, limit] (OpenAI 2025, gpt-oss). Overwrites `gates`.
void open_gates(CpuDense& cpu, std::span<float> in, std::span<float> gates, const graph::Gate& gate,
                const Progress& cancel);

} // namespace headscope::cpu
