#pragma once

#include "core/engine/cpu/kernels/kernels.h"

#include "core/tensor/dims.h"

#include <cstdint>
#include <span>

namespace headscope::cpu {

/// The factor of the scores: 1 / (sqrt(dk) temperature).
float score_factor(const Dims& dims, float temperature);

/// A matrix inside a tensor, for example the right factor of a product: rows of `stride` numbers.
struct Block {
    const float* data = nullptr;
    std::int64_t stride = 0, rows = 0, cols = 0;
};

/// The number of columns, rounded up to whole panels.
std::int64_t whole_panels(const Kernels& kernels, std::int64_t cols);

/// Writes column panels one after another, each rows x Kernels::panel numbers, the last padded with 0:
/// whole_panels(cols) rows numbers in total.
void pack_panels(const Kernels& kernels, const Block& block, float* out);

/// Same for the transpose of `block`: its rows become the columns from `first` on. The rest of the last panel
/// is 0.
void pack_transposed_panels(const Kernels& kernels, const Block& block, float* out, std::int64_t first = 0);

/// Writes rows from `first` on into panels with room for `capacity` rows.
void pack_rows(const Kernels& kernels, const Block& block, float* out, std::int64_t first,
               std::int64_t capacity);

/// The number of rows that determines the time of a product. A product of few rows is limited by memory
/// bandwidth and takes as long as one of 8 rows.
constexpr std::int64_t effective_rows(std::int64_t rows) {
    return rows < 8 ? 8 : rows;
}

/// The size of the scratch memory of multiply_block, in numbers.
std::int64_t pack_scratch_size(const Kernels& kernels);

/// C = A B + bias for a block of any size; the caller provides `scratch`. Returns false if a number of C is
/// not finite.
bool multiply_block(const Kernels& kernels, const Block& A, const Block& B, const float* bias, float* C,
                    std::int64_t C_stride, float* scratch);

/// Same with B packed by pack_panels, restricted to the columns [first, first + cols); `first` must be a
/// multiple of the panel width.
bool multiply_packed(const Kernels& kernels, const Block& A, const float* panels, std::int64_t first,
                     std::int64_t cols, const float* bias, float* C, std::int64_t C_stride);

/// cap tanh(score / cap), in place.
void cap_scores(std::span<float> scores, float cap);

} // namespace headscope::cpu
