#pragma once

#include "core/attention/problem.h"

#include <span>

namespace headscope::analysis {

// What single heads of an attention make of its weights, (1, H, Tq, Tk), and values, (1, Tk, Hkv dv). The
// problem gives W_O, gains and sizes.

/// What a head adds to the stream at one query: gain A[i,:] V W_O, to D numbers. Null values: they are made
/// of the mixture that the head reads of `read`, (1, Tk, Dkv), so that no value of the whole text is
/// computed; not for values that are cut to a limit.
void write_of_head(const Problem& problem, const Tensor& weights, const Tensor* values, const Tensor& read,
                   std::int64_t head, std::int64_t query, std::span<float> to);

/// (n, Tk): the same for queries from `first` on, each along its own direction, (n, D), by source token:
/// gain A[i,j] v_j W_O . d_i.
Tensor parts_by_source(const Problem& problem, const Tensor& weights, const Tensor& values, std::int64_t head,
                       const Tensor& directions, std::int64_t first);

/// (1, Tq, H dv): gain A V of every head, which W_O multiplies.
Tensor outputs_of_heads(const Problem& problem, const Tensor& weights, const Tensor& values);

} // namespace headscope::analysis
