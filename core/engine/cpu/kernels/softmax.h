#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/product.h"

namespace {

/// exp(x) for x <= 0, exactly 0 where the result is below the normal range. Relative error under 2e-7. With x
/// = n ln(2) + rest and |rest| <= ln(2) / 2, the result is 2^n times a minimax polynomial of degree 6 in the
/// rest.
inline Vec exponential(Vec x) {
    constexpr float lowest = -87.33654F; // ln of the smallest normal number
    constexpr float log2_e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
    constexpr float to_whole = 12582912.0F; // 1.5 * 2^23: adding it rounds to an integer
    const Vec clamped = larger(x, Vec::all(lowest));
    const Vec shifted = multiply_add(clamped, Vec::all(log2_e), Vec::all(to_whole));
    const Vec n = shifted - Vec::all(to_whole);
    const Vec r = multiply_add(n, Vec::all(-ln2_low), multiply_add(n, Vec::all(-ln2_high), clamped));
    Vec p = Vec::all(0.0013814320554956794F);
    p = multiply_add(p, r, Vec::all(0.00836885068565607F));
    p = multiply_add(p, r, Vec::all(0.041668400168418884F));
    p = multiply_add(p, r, Vec::all(0.1666651964187622F));
    p = multiply_add(p, r, Vec::all(0.4999999403953552F));
    p = multiply_add(p, r, Vec::all(1.0F));
    p = multiply_add(p, r, Vec::all(1.0F));
    return where_at_least(x, lowest, add_to_exponent(p, shifted));
}

constexpr float minus_infinity = -__builtin_inff();

inline float largest(const float* row, std::int64_t count) {
    Vec best[2] = {Vec::all(minus_infinity), Vec::all(minus_infinity)};
    std::int64_t j = 0;
    for (; j + 2 * Vec::lanes <= count; j += 2 * Vec::lanes) {
        best[0] = larger(best[0], Vec::load(row + j));
        best[1] = larger(best[1], Vec::load(row + j + Vec::lanes));
    }
    for (; j < count; j += Vec::lanes)
        best[0] = larger(best[0], Vec::load_some(row + j, count - j, minus_infinity));
    return across_lanes(larger(best[0], best[1]), [](float a, float b) { return b > a ? b : a; });
}

inline float exponentials(float* row, std::int64_t count, float largest) {
    const Vec subtract = Vec::all(largest);
    Vec sums[4] = {Vec::zero(), Vec::zero(), Vec::zero(), Vec::zero()};
    std::int64_t j = 0;
    for (; j + 4 * Vec::lanes <= count; j += 4 * Vec::lanes)
#pragma GCC unroll 4
        for (int n = 0; n < 4; ++n) {
            const Vec e = exponential(Vec::load(row + j + n * Vec::lanes) - subtract);
            e.store(row + j + n * Vec::lanes);
            sums[n] = sums[n] + e;
        }
    for (; j + Vec::lanes <= count; j += Vec::lanes) {
        const Vec e = exponential(Vec::load(row + j) - subtract);
        e.store(row + j);
        sums[0] = sums[0] + e;
    }
    if (j < count) {
        const Vec e = exponential(Vec::load_some(row + j, count - j, minus_infinity) - subtract);
        e.store_some(row + j, count - j);
        sums[1] = sums[1] + e;
    }
    return sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

inline void scale_row(float* row, std::int64_t count, float factor, float* out, bool bypass_caches) {
    const Vec times = Vec::all(factor);
    const auto step = static_cast<std::int64_t>(Vec::lanes);
    std::int64_t j = 0;
    // Stores that bypass the caches must fill whole cache lines.
    const auto aligned = reinterpret_cast<std::uintptr_t>(out) % sizeof(Vec) == 0;
    if (out == nullptr)
        for (; j + step <= count; j += step)
            (Vec::load(row + j) * times).store(row + j);
    else if (bypass_caches && aligned)
        for (; j + step <= count; j += step) {
            const Vec w = Vec::load(row + j) * times;
            w.store(row + j);
            w.store_past_caches(out + j);
        }
    else
        for (; j + step <= count; j += step) {
            const Vec w = Vec::load(row + j) * times;
            w.store(row + j);
            w.store(out + j);
        }
    if (j < count) {
        const Vec w = Vec::load_some(row + j, count - j, 0.0F) * times;
        w.store_some(row + j, count - j);
        if (out != nullptr)
            w.store_some(out + j, count - j);
    }
    if (bypass_caches)
        finish_stores();
}

} // namespace
