#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/product.h"

#include <utility>

namespace {

/// a0 b0 a1 b1 ... of the lower halves, or of the upper ones.
template<int First, int... I>
inline Vec zip(Vec a, Vec b, std::integer_sequence<int, I...>) {
    return {__builtin_shufflevector(a.v, b.v, (First + I / 2 + I % 2 * Vec::lanes)...)};
}

/// In place. Each round is a perfect shuffle, which moves one bit of a number's row into its lane.
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

/// Up to Vec::lanes rows. Lanes are rows, so that each result is one chain of multiply-adds in the order of
/// the depth, as in `multiply`.
inline void row_products_of_some(const float* table, std::int64_t count, std::int64_t depth, const float* x,
                                 float* out) {
    constexpr int lanes = Vec::lanes;
    const float* from[lanes];
    for (int r = 0; r < lanes; ++r)
        from[r] = table + (r < count ? r : count - 1) * depth;
    Vec sums = Vec::zero(), block[lanes];
    std::int64_t k = 0;
    for (; k + lanes <= depth; k += lanes) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r)
            block[r] = Vec::load(from[r] + k);
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

inline void row_products(const float* table, std::int64_t rows, std::int64_t depth, const float* x,
                         float* out) {
    for (std::int64_t r = 0; r < rows; r += Vec::lanes)
        row_products_of_some(table + r * depth, rows - r < Vec::lanes ? rows - r : Vec::lanes, depth, x,
                             out + r);
}

} // namespace
