#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/product.h"

#include <utility>

namespace {

/// Interleaves the lower halves, or the upper halves: a0 b0 a1 b1 ...
template<int First, int... I>
inline Vec zip(Vec a, Vec b, std::integer_sequence<int, I...>) {
    return {__builtin_shufflevector(a.v, b.v, (First + I / 2 + I % 2 * Vec::lanes)...)};
}

/// Transposes in place. Each round is a perfect shuffle, which moves one bit of a number's row into its lane.
inline void transpose(Vec (&rows)[Vec::lanes]) {
    constexpr int lanes = Vec::lanes, half = lanes / 2;
    constexpr auto order = std::make_integer_sequence<int, lanes>();
#pragma GCC unroll 4
    for (int round = 1; round < lanes; round *= 2) {
        Vec next[lanes];
#pragma GCC unroll 8
        for (int i = 0; i < half; ++i) {
            next[2 * i] = zip<0>(rows[i], rows[i + half], order);
            next[2 * i + 1] = zip<half>(rows[i], rows[i + half], order);
        }
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i)
            rows[i] = next[i];
    }
}

/// Adds x[k] times row k of B to `out`, for R rows; `first` means that `out` starts at 0.
template<int R>
inline void add_rows(const float* x, const float* B, std::int64_t stride, std::int64_t cols, bool first,
                     float* out) {
    Vec factors[R];
    for (int r = 0; r < R; ++r)
        factors[r] = Vec::all(x[r]);
    std::int64_t c = 0;
    for (; c + panel_width <= cols; c += panel_width) {
        Vec sums[panel_vectors];
#pragma GCC unroll 2
        for (int n = 0; n < panel_vectors; ++n)
            sums[n] = first ? Vec::zero() : Vec::load(out + c + n * Vec::lanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
            for (int n = 0; n < panel_vectors; ++n)
                sums[n] = multiply_add(factors[r], Vec::load(B + r * stride + c + n * Vec::lanes), sums[n]);
#pragma GCC unroll 2
        for (int n = 0; n < panel_vectors; ++n)
            sums[n].store(out + c + n * Vec::lanes);
    }
    for (; c < cols; c += Vec::lanes) {
        Vec sum = first ? Vec::zero() : Vec::load_some(out + c, cols - c, 0.0F);
        for (int r = 0; r < R; ++r)
            sum = multiply_add(factors[r], Vec::load_some(B + r * stride + c, cols - c, 0.0F), sum);
        sum.store_some(out + c, cols - c);
    }
}

/// Reads eight rows of B at a time, each sequentially, which is the fastest access pattern.
inline void multiply_row(const float* x, const float* B, std::int64_t stride, std::int64_t depth,
                         std::int64_t cols, float* out) {
    std::int64_t k = 0;
    for (; k + 8 <= depth; k += 8)
        add_rows<8>(x + k, B + k * stride, stride, cols, k == 0, out);
    for (; k < depth; ++k)
        add_rows<1>(x + k, B + k * stride, stride, cols, k == 0, out);
}

/// Multiplies by up to Vec::lanes rows of the transpose. Lanes are rows, so that each result is one chain.
inline void multiply_some_transposed(const float* x, const float* B, std::int64_t depth, std::int64_t count,
                                     float* out) {
    constexpr int lanes = Vec::lanes;
    const float* from[lanes];
    for (int r = 0; r < lanes; ++r)
        from[r] = B + (r < count ? r : count - 1) * depth;
    Vec sums = Vec::zero(), block[lanes];
    std::int64_t k = 0;
    for (; k + lanes <= depth; k += lanes) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) {
            block[r] = Vec::load(from[r] + k);
            // Prefetches the next rows. A prefetch past the end of the matrix is harmless.
            __builtin_prefetch(from[r] + lanes * depth + k);
        }
        transpose(block);
#pragma GCC unroll 16
        for (int n = 0; n < lanes; ++n)
            sums = multiply_add(Vec::all(x[k + n]), block[n], sums);
    }
    if (k < depth) {
        for (int r = 0; r < lanes; ++r)
            block[r] = Vec::load_some(from[r] + k, depth - k, 0.0F);
        transpose(block);
        for (int n = 0; n < depth - k; ++n)
            sums = multiply_add(Vec::all(x[k + n]), block[n], sums);
    }
    sums.store_some(out, count);
}

inline void multiply_row_transposed(const float* x, const float* B, std::int64_t depth, std::int64_t cols,
                                    float* out) {
    for (std::int64_t c = 0; c < cols; c += Vec::lanes)
        multiply_some_transposed(x, B + c * depth, depth, cols - c < Vec::lanes ? cols - c : Vec::lanes,
                                 out + c);
}

} // namespace
