#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/softmax.h"

namespace {

/// exp(x) for x <= 87.
inline Vec exponential_up_to_87(Vec x) {
    return exponential(smaller(x, Vec::all(87.0F)));
}

/// 1 / (1 + exp(-x)), relative error below 3e-7.
inline Vec sigmoid(Vec x) {
    return Vec::all(1.0F) / (Vec::all(1.0F) + exponential_up_to_87(Vec::zero() - x));
}

/// x Phi(x), where Phi is the normal distribution. The error is below 3e-7, or below 3e-6 times the result if
/// that is less. Phi(-a) is exp(-a^2 / 2) times a polynomial in t = 1 / (1 + 0.36 a), fitted to a relative
/// error of 9e-7.
inline Vec gelu_of(Vec x) {
    const Vec a = larger(x, Vec::zero() - x);
    const Vec t = Vec::all(1.0F) / multiply_add(a, Vec::all(0.36F), Vec::all(1.0F));
    Vec p = Vec::all(0.04705621F);
    p = multiply_add(p, t, Vec::all(-0.17976443F));
    p = multiply_add(p, t, Vec::all(0.18095367F));
    p = multiply_add(p, t, Vec::all(0.02654955F));
    p = multiply_add(p, t, Vec::all(0.13971919F));
    p = multiply_add(p, t, Vec::all(0.14177247F));
    p = multiply_add(p, t, Vec::all(0.14371304F));
    const Vec below = p * t * exponential(Vec::all(-0.5F) * a * a);
    return larger(x, Vec::zero()) - a * below;
}

/// Hendrycks and Gimpel 2016, "Gaussian Error Linear Units", section 2. x (1 + tanh(u)) / 2 equals x times
/// the sigmoid of 2 u, with u = sqrt(2 / pi) (x + 0.044715 x^3).
inline Vec gelu_tanh_of(Vec x) {
    constexpr float twice_scale = 1.5957691F; // 2 sqrt(2 / pi)
    return x * sigmoid(Vec::all(twice_scale) * multiply_add(Vec::all(0.044715F) * x * x, x, x));
}

inline Vec silu_of(Vec x) {
    return x * sigmoid(x);
}

/// Applies the function in place. A partial block at the end is copied, padded and copied back.
template<Vec (*function)(Vec)>
void activate(float* x, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + Vec::lanes <= count; i += Vec::lanes)
        function(Vec::load(x + i)).store(x + i);
    if (i == count)
        return;
    float block[Vec::lanes] = {};
    for (std::int64_t n = 0; i + n < count; ++n)
        block[n] = x[i + n];
    function(Vec::load(block)).store(block);
    for (std::int64_t n = 0; i + n < count; ++n)
        x[i + n] = block[n];
}

} // namespace
