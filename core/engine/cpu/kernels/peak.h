#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/product.h"

namespace {

/// Uses enough independent sums to keep the multipliers busy.
inline double multiply_adds(std::int64_t rounds) {
    constexpr int chains = 12;
    Vec sums[chains];
    for (Vec& sum : sums)
        sum = Vec::all(1.0F);
    const Vec a = Vec::all(0.999999F), b = Vec::all(1e-7F);
    for (std::int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i)
            sums[i] = multiply_add(sums[i], a, b);
    float total = 0;
    for (const Vec& sum : sums)
        total += sum_of(sum);
    // The sums are used so that the compiler keeps the loop.
    return total > 0 ? 2.0 * chains * Vec::lanes * static_cast<double>(rounds) : 0.0;
}

} // namespace
