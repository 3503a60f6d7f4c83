#pragma once

// Compiled once for each instruction set, after that set's Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/kernels.h"

namespace {

using headscope::cpu::Product;

constexpr int panel_vectors = 2;
constexpr std::int64_t rows_ahead = 24; ///< distance of the prefetch, in rows of a panel
constexpr std::int64_t panel_width = panel_vectors * Vec::lanes;

/// Reduces all lanes to one number, combining halves.
template<class Combine>
inline float across_lanes(Vec v, const Combine& combine) {
    float lanes[Vec::lanes];
    v.store(lanes);
#pragma GCC unroll 4
    for (int half = Vec::lanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < half; ++i)
            lanes[i] = combine(lanes[i], lanes[i + half]);
    return lanes[0];
}

inline float sum_of(Vec v) {
    return across_lanes(v, [](float a, float b) { return a + b; });
}

/// The number of columns from the panel's vector n on.
inline std::int64_t left(std::int64_t cols, int n) {
    const std::int64_t rest = cols - static_cast<std::int64_t>(n) * Vec::lanes;
    return rest > 0 ? rest : 0;
}

/// Multiplies R rows by the first `cols` columns of one panel, or by all columns if Whole. Row addresses are
/// derived from every third row's address, which leaves registers for the sums.
template<int R, bool Whole>
inline Vec multiply_rows(const Product& p, std::int64_t cols, const float* A, const float* B, float* C,
                         const float* bias) {
    const auto load = [cols](const float* from, int n) {
        return Whole ? Vec::load(from + n * Vec::lanes)
                     : Vec::load_some(from + n * Vec::lanes, left(cols, n), 0.0F);
    };
    // Every loop over the sums is unrolled: otherwise the compiler keeps all sums in memory.
    Vec sums[R][panel_vectors];
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int n = 0; n < panel_vectors; ++n)
            sums[r][n] = p.accumulate ? load(C + r * p.C_stride, n) : Vec::zero();
    const float* third[(R + 2) / 3];
#pragma GCC unroll 12
    for (int r = 0; r < R; r += 3)
        third[r / 3] = A + r * p.A_stride;
    const std::int64_t stride = p.A_stride, B_stride = p.B_stride;
    for (std::int64_t k = 0; k < p.depth; ++k, B += B_stride) {
        Vec b[panel_vectors];
        for (int n = 0; n < panel_vectors; ++n) {
            b[n] = Vec::load(B + n * Vec::lanes);
            // With few rows, the loop would wait for a large matrix. A prefetch past the end of the matrix is
            // harmless.
            __builtin_prefetch(B + rows_ahead * B_stride + n * Vec::lanes);
        }
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const Vec a = Vec::all(third[r / 3][k + r % 3 * stride]);
            for (int n = 0; n < panel_vectors; ++n)
                sums[r][n] = multiply_add(a, b[n], sums[r][n]);
        }
    }
    // 0 times a number that is not finite is NaN, and NaN persists in the sum.
    Vec check = Vec::zero();
#pragma GCC unroll 2
    for (int n = 0; n < panel_vectors; ++n) {
        const Vec add = bias != nullptr && p.last ? load(bias, n) : Vec::zero();
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            Vec c = sums[r][n];
            if (p.last) {
                c = c * Vec::all(p.factor);
                if (bias != nullptr)
                    c = c + add;
                check = multiply_add(c, Vec::zero(), check);
            }
            float* const to = C + r * p.C_stride + n * Vec::lanes;
            if constexpr (Whole)
                c.store(to);
            else
                c.store_some(to, left(cols, n));
        }
    }
    return check;
}

template<int R, bool Whole>
Vec multiply_some(const Product& p, std::int64_t rows, std::int64_t cols, const float* A, const float* B,
                  float* C, const float* bias) {
    if constexpr (R > 1)
        if (rows < R)
            return multiply_some<R - 1, Whole>(p, rows, cols, A, B, C, bias);
    return multiply_rows<R, Whole>(p, cols, A, B, C, bias);
}

template<int R>
bool multiply(const Product& p) {
    Vec check = Vec::zero();
    for (std::int64_t first = 0; first < p.cols; first += panel_width) {
        const float* B = p.B + first / panel_width * p.panel_stride;
        const float* bias = p.bias == nullptr ? nullptr : p.bias + first;
        const std::int64_t cols = p.cols - first;
        for (std::int64_t row = 0; row < p.rows; row += R) {
            const std::int64_t rows = p.rows - row < R ? p.rows - row : R;
            const float* A = p.A + row * p.A_stride;
            float* C = p.C + row * p.C_stride + first;
            check = check + (cols >= panel_width ? multiply_some<R, true>(p, rows, cols, A, B, C, bias)
                                                 : multiply_some<R, false>(p, rows, cols, A, B, C, bias));
        }
    }
    return sum_of(check) == 0.0F;
}

inline void pack(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float* to) {
    const std::int64_t panels = cols / panel_width, whole = panels * panel_width;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t panel = 0; panel < panels; ++panel)
            for (int n = 0; n < panel_vectors; ++n)
                Vec::load(from + row * stride + panel * panel_width + n * Vec::lanes)
                    .store(to + (panel * rows + row) * panel_width + n * Vec::lanes);
    for (std::int64_t row = 0; row < rows && whole < cols; ++row)
        for (int n = 0; n < panel_vectors; ++n)
            Vec::load_some(from + row * stride + whole + n * Vec::lanes, left(cols - whole, n), 0.0F)
                .store(to + (panels * rows + row) * panel_width + n * Vec::lanes);
}

} // namespace
