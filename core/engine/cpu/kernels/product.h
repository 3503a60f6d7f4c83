#pragma once

// Compiled once for each instruction set, after its Vec: everything has internal linkage.

#include "core/engine/cpu/kernels/kernels.h"

namespace {

using headscope::Product;

constexpr int panel_vectors = 2;
constexpr std::int64_t panel_width = panel_vectors * Vec::lanes;

inline float sum_of(Vec v) {
    float lanes[Vec::lanes];
    v.store(lanes);
    for (int half = Vec::lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

/// R rows times one panel. Rows are reached from every third one, which leaves registers for the sums.
template<int R>
inline Vec multiply_rows(const Product& p, const float* A, const float* B, float* C, std::int64_t C_stride,
                         const float* bias) {
    Vec sums[R][panel_vectors];
    for (int r = 0; r < R; ++r)
        for (int n = 0; n < panel_vectors; ++n)
            sums[r][n] = p.go_on ? Vec::load(C + r * C_stride + n * Vec::lanes) : Vec::zero();
    const float* third[(R + 2) / 3];
    for (int r = 0; r < R; r += 3)
        third[r / 3] = A + r * p.A_stride;
    const std::int64_t stride = p.A_stride, B_stride = p.B_stride;
    for (std::int64_t k = 0; k < p.depth; ++k, B += B_stride) {
        Vec b[panel_vectors];
        for (int n = 0; n < panel_vectors; ++n)
            b[n] = Vec::load(B + n * Vec::lanes);
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const Vec a = Vec::all(third[r / 3][k + r % 3 * stride]);
            for (int n = 0; n < panel_vectors; ++n)
                sums[r][n] = multiply_add(a, b[n], sums[r][n]);
        }
    }
    // 0 times a number that is not finite is NaN, and stays.
    Vec check = Vec::zero();
    for (int n = 0; n < panel_vectors; ++n) {
        const Vec add = bias != nullptr && p.last ? Vec::load(bias + n * Vec::lanes) : Vec::zero();
        for (int r = 0; r < R; ++r) {
            Vec c = sums[r][n];
            if (p.last) {
                c = c * Vec::all(p.factor);
                if (bias != nullptr)
                    c = c + add;
                check = multiply_add(c, Vec::zero(), check);
            }
            c.store(C + r * C_stride + n * Vec::lanes);
        }
    }
    return check;
}

using RowsFunction = Vec (*)(const Product&, const float*, const float*, float*, std::int64_t, const float*);

template<int R>
Vec multiply_some(const Product& p, std::int64_t rows, const float* A, const float* B, float* C,
                  std::int64_t C_stride, const float* bias) {
    if constexpr (R > 1)
        if (rows < R)
            return multiply_some<R - 1>(p, rows, A, B, C, C_stride, bias);
    return multiply_rows<R>(p, A, B, C, C_stride, bias);
}

/// A panel that is not whole goes through a block of its own.
template<int R>
Vec multiply_edge(const Product& p, std::int64_t rows, std::int64_t cols, const float* A, const float* B,
                  float* C, const float* bias) {
    alignas(64) float block[R * panel_width];
    alignas(64) float edge_bias[panel_width] = {};
    if (p.go_on)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < panel_width; ++c)
                block[r * panel_width + c] = c < cols ? C[r * p.C_stride + c] : 0.0F;
    for (std::int64_t c = 0; bias != nullptr && c < cols; ++c)
        edge_bias[c] = bias[c];
    const Vec check =
        multiply_some<R>(p, rows, A, B, block, panel_width, bias != nullptr ? edge_bias : nullptr);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
            C[r * p.C_stride + c] = block[r * panel_width + c];
    return check;
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
            check = check + (cols >= panel_width ? multiply_some<R>(p, rows, A, B, C, p.C_stride, bias)
                                                 : multiply_edge<R>(p, rows, cols, A, B, C, bias));
        }
    }
    return sum_of(check) == 0.0F;
}

inline void pack(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t panels, float* to) {
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t panel = 0; panel < panels; ++panel)
            for (int n = 0; n < panel_vectors; ++n)
                Vec::load(from + row * stride + panel * panel_width + n * Vec::lanes)
                    .store(to + (panel * rows + row) * panel_width + n * Vec::lanes);
}

} // namespace
