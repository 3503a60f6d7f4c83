#pragma once

#include <cstdint>

namespace headscope::cpu {

/// One product of small blocks, C = factor (A B) + bias. Every number of C is one chain of multiply-adds in
/// the order of the depth, so that the bits of C depend neither on the block nor on how the depth is divided.
struct Product {
    const float* A = nullptr; ///< (rows, depth)
    std::int64_t A_stride = 0;
    /// Panels of Kernels::panel columns each: row k of panel p begins at B + p panel_stride + k B_stride.
    /// Each row is readable to the panel's whole width.
    const float* B = nullptr;
    std::int64_t B_stride = 0, panel_stride = 0;
    float* C = nullptr; ///< (rows, cols)
    std::int64_t C_stride = 0;
    std::int64_t rows = 0, depth = 0, cols = 0;
    bool accumulate = false;     ///< C contains the sums over an earlier part of the depth; add to them
    bool last = true;            ///< this part of the depth is the last: apply factor and bias
    const float* bias = nullptr; ///< cols numbers, or null
    float factor = 1.0F;
};

/// The inner loops of the CPU engine for one instruction set. Plain functions on plain memory; any thread.
struct Kernels {
    const char* name;   ///< name shown to the user: "AVX-512"
    std::int64_t rows;  ///< number of rows of C that `multiply` computes at a time
    std::int64_t panel; ///< number of columns of C that `multiply` computes at a time
    /// Returns false if a number of C is not finite.
    bool (*multiply)(const Product& product);
    /// Copies rows of `cols` columns into panels. The rows of a panel are contiguous; panels are panel * rows
    /// numbers apart, and the last panel is padded with 0.
    void (*pack)(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float* to);
    /// One row, x (depth), times B or its transpose: the same chains as in `multiply`, without factor and
    /// bias, at the memory bandwidth of B. Row k of B begins at B + k stride and has `cols` numbers; the
    /// `cols` rows of the transpose are contiguous.
    void (*multiply_row)(const float* x, const float* B, std::int64_t stride, std::int64_t depth,
                         std::int64_t cols, float* out);
    void (*multiply_row_transposed)(const float* x, const float* B, std::int64_t depth, std::int64_t cols,
                                    float* out);
    /// The largest of `count` numbers; minus infinity for an empty row.
    float (*largest)(const float* row, std::int64_t count);
    /// row[j] = exp(row[j] - largest), exactly 0 below the normal range and at minus infinity. Returns the
    /// sum.
    float (*exponentials)(float* row, std::int64_t count, float largest);
    /// row[j] *= factor, copied to `out` unless `out` is null. bypass_caches: bypass the caches when writing
    /// `out`, for an `out` much larger than they are.
    void (*scale_row)(float* row, std::int64_t count, float factor, float* out, bool bypass_caches);
    /// In place: x Phi(x), its approximation by tanh, and x sigmoid(x). The error of each is below 3e-7, or
    /// below 3e-6 times the result if that is less.
    void (*gelu)(float* x, std::int64_t count);
    void (*gelu_tanh)(float* x, std::int64_t count);
    void (*silu)(float* x, std::int64_t count);
    /// Measures the peak of this instruction set: runs `rounds` rounds of independent multiply-adds and
    /// returns their number of FLOP.
    double (*multiply_adds)(std::int64_t rounds);
};

extern const Kernels kernels_baseline;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512;
#endif

/// The fastest kernels that this processor can run. The environment variable HEADSCOPE_KERNELS (avx512, avx2,
/// baseline) excludes kernels faster than the named ones.
const Kernels& best_kernels();
/// Returns null if this processor cannot run the named kernels. id: "avx512", "avx2" or "baseline".
const Kernels* find_kernels(const char* id);

} // namespace headscope::cpu
