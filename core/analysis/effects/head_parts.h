#pragma once

#include "core/attention/problem.h"

#include <span>

namespace headscope::analysis {

// What single heads of an attention make of its weights, (1, H, Tq, Tk), and values, (1, Tk, Hkv dv). The
// problem gives W_O, head gains and sizes.

/// (count, H dv): sigmoid(x W_G + b_G) for queries from `first` on, which multiplies the head outputs. Null
/// if the problem has no such gate.
TensorPtr head_gates(const Problem& problem, std::int64_t first, std::int64_t count);

/// Computes the head's term of the residual stream at one query: gain (gate * A[i,:] V) W_O, to D numbers.
/// `weights`: of that query alone. `gates`: its row, (1, H dv), or null. Null values: they are made of the
/// mixture that the head reads of `read`, (1, Tk, Dkv), so that no value of the whole text is computed; not
/// for values that are cut to a limit.
void write_of_head(const Problem& problem, const Tensor& weights, const Tensor* values, const Tensor& read,
                   const Tensor* gates, std::int64_t head, std::span<float> to);

/// (n, Tk): the same for all n queries of `weights`, each along its own direction, (n, D), by source token:
/// gain A[i,j] (gate * v_j) W_O . d_i. `gates`: (n, H dv), or null.
Tensor parts_by_source(const Problem& problem, const Tensor& weights, const Tensor& values,
                       const Tensor* gates, std::int64_t head, const Tensor& directions);

} // namespace headscope::analysis
