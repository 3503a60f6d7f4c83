#pragma once

#include "core/engine/cpu/kernels/kernels.h"

#include "core/tensor/dims.h"

#include <cstdint>
#include <span>

namespace headscope::cpu {

/// What scores are multiplied by: 1 / (sqrt(dk) temperature).
float score_factor(const Dims& dims, float temperature);

/// The right side of a product as it lies in a tensor: rows of `stride` numbers.
struct Block {
    const float* data = nullptr;
    std::int64_t stride = 0, rows = 0, cols = 0;
};

/// Columns are rounded up to whole panels.
std::int64_t whole_panels(const Kernels& kernels, std::int64_t cols);

/// Column panels one after another, each rows x Kernels::panel numbers, the last padded with 0:
/// whole_panels(cols) rows numbers.
void pack_panels(const Kernels& kernels, const Block& block, float* out);

/// The same for the transpose of `block`: its rows become the columns from `first` on. What the last panel
/// has beyond them is 0.
void pack_transposed_panels(const Kernels& kernels, const Block& block, float* out, std::int64_t first = 0);

/// Rows `first` and up of panels that have room for `capacity` rows.
void pack_rows(const Kernels& kernels, const Block& block, float* out, std::int64_t first,
               std::int64_t capacity);

/// A product of few rows waits for the memory: it takes as long as one of so many.
constexpr std::int64_t rows_of_work(std::int64_t rows) {
    return rows < 8 ? 8 : rows;
}

/// So many numbers of scratch memory does multiply_block need.
std::int64_t pack_space(const Kernels& kernels);

/// C = A B + bias for a block of any size; `scratch` is the caller's. False when a number of C is not finite.
bool multiply_block(const Kernels& kernels, const Block& A, const Block& B, const float* bias, float* C,
                    std::int64_t C_stride, float* scratch);

/// The same with B packed by pack_panels, of which the columns from `first`, a whole number of panels, to
/// first + cols are wanted.
bool multiply_packed(const Kernels& kernels, const Block& A, const float* panels, std::int64_t first,
                     std::int64_t cols, const float* bias, float* C, std::int64_t C_stride);

/// cap tanh(score / cap), in place.
void cap_scores(std::span<float> scores, float cap);

} // namespace headscope::cpu
