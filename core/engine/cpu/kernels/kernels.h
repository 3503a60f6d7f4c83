#pragma once

#include <cstdint>

namespace headscope::cpu {

/// One product of small blocks, C = factor (A B) + bias. Every number of C is one chain of multiply-adds in
/// the order of the depth, so that its bits depend neither on the block nor on how the depth is divided.
struct Product {
    const float* A = nullptr; ///< (rows, depth)
    std::int64_t A_stride = 0;
    /// Column panels of Kernels::panel numbers a row: row k of panel p at B + p panel_stride + k B_stride,
    /// readable to its whole width.
    const float* B = nullptr;
    std::int64_t B_stride = 0, panel_stride = 0;
    float* C = nullptr; ///< (rows, cols)
    std::int64_t C_stride = 0;
    std::int64_t rows = 0, depth = 0, cols = 0;
    bool go_on = false;          ///< C holds the sums over an earlier part of the depth
    bool last = true;            ///< nothing follows: factor and bias are applied
    const float* bias = nullptr; ///< cols numbers, or null
    float factor = 1.0F;
};

/// The inner loops of the CPU engine for one instruction set. Plain functions on plain memory; any thread.
struct Kernels {
    const char* name;   ///< for people: "AVX-512"
    std::int64_t rows;  ///< a product works on so many rows at once
    std::int64_t panel; ///< and so many columns
    /// False when a number of C is not finite.
    bool (*multiply)(const Product& product);
    /// Copies rows of `cols` columns into panels, so that each panel's rows follow each other; panels lie
    /// panel * rows numbers apart, and the last one is filled up with 0.
    void (*pack)(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float* to);
    /// The largest of count numbers; minus infinity for none.
    float (*largest)(const float* row, std::int64_t count);
    /// row[j] = exp(row[j] - largest), exactly 0 below the normal range and at minus infinity; the sum.
    float (*exponentials)(float* row, std::int64_t count, float largest);
    /// row[j] *= factor, and a copy of it in `out` unless that is null. past_caches: where it is much larger
    /// than they are.
    void (*scale_row)(float* row, std::int64_t count, float factor, float* out, bool past_caches);
    /// In place: x Phi(x), its approximation by tanh, and x sigmoid(x), each within 3e-7, or 3e-6 of its size
    /// where that is less.
    void (*gelu)(float* x, std::int64_t count);
    void (*gelu_tanh)(float* x, std::int64_t count);
    void (*silu)(float* x, std::int64_t count);
    /// The peak of this instruction set: so many rounds of independent multiply-adds; returns how many FLOP.
    double (*multiply_adds)(std::int64_t rounds);
};

extern const Kernels kernels_baseline;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512;
#endif

/// What this processor can run, the fastest first. The environment variable HEADSCOPE_KERNELS (avx512, avx2,
/// baseline) leaves out what comes before the named one.
const Kernels& best_kernels();
/// Null when this processor cannot run them. id: "avx512", "avx2" or "baseline".
const Kernels* find_kernels(const char* id);

} // namespace headscope::cpu
