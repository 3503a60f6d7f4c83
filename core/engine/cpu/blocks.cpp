#include "core/engine/cpu/blocks.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headscope::cpu {

namespace {

constexpr std::int64_t packed_depth = 1024,
                       packed_cols = 128; ///< a packed block fits into the L2 cache
constexpr std::int64_t rows_in_cache = 48;
/// With fewer rows packing costs more than it saves; B is then read in place, some rows at a time.
constexpr std::int64_t few_rows = 24, short_depth = 128;

} // namespace

float score_factor(const Dims& dims, float temperature) {
    return static_cast<float>(1.0 /
                              (std::sqrt(static_cast<double>(dims.dk)) * static_cast<double>(temperature)));
}

std::int64_t whole_panels(const Kernels& kernels, std::int64_t cols) {
    return (cols + kernels.panel - 1) / kernels.panel * kernels.panel;
}

void pack_panels(const Kernels& kernels, const Block& block, float* out) {
    kernels.pack(block.data, block.stride, block.rows, block.cols, out);
}

void pack_transposed_panels(const Kernels& kernels, const Block& block, float* out, std::int64_t first) {
    const std::int64_t width = kernels.panel;
    for (std::int64_t done = 0, count = 0; done < block.rows; done += count) {
        const std::int64_t at = (first + done) % width;
        count = std::min(width - at, block.rows - done);
        float* const panel = out + (first + done - at) * block.cols + at;
        for (std::int64_t k = 0; k < block.cols; ++k) {
            const float* const column = block.data + done * block.stride + k;
            float* const row = panel + k * width;
            for (std::int64_t c = 0; c < count; ++c)
                row[c] = column[c * block.stride];
            std::fill(row + count, row + width - at, 0.0F);
        }
    }
}

void pack_rows(const Kernels& kernels, const Block& block, float* out, std::int64_t first,
               std::int64_t capacity) {
    for (std::int64_t col = 0; col < block.cols; col += kernels.panel)
        kernels.pack(block.data + col, block.stride, block.rows, std::min(kernels.panel, block.cols - col),
                     out + col * capacity + first * kernels.panel);
}

std::int64_t pack_scratch_size(const Kernels& kernels) {
    return packed_depth * whole_panels(kernels, packed_cols);
}

bool multiply_block(const Kernels& kernels, const Block& A, const Block& B, const float* bias, float* C,
                    std::int64_t C_stride, float* scratch) {
    if (A.rows == 1) {
        kernels.multiply_row(A.data, B.data, B.stride, B.rows, B.cols, C);
        if (bias != nullptr)
            std::transform(C, C + B.cols, bias, C, std::plus<>());
        return std::all_of(C, C + B.cols, [](float c) { return std::isfinite(c); });
    }
    bool finite = true;
    const auto multiply = [&](std::int64_t k, std::int64_t depth, std::int64_t col, std::int64_t cols,
                              const float* panels, std::int64_t B_stride, std::int64_t panel_stride) {
        for (std::int64_t row = 0; row < A.rows; row += rows_in_cache) {
            const bool fine = kernels.multiply({.A = A.data + row * A.stride + k,
                                                .A_stride = A.stride,
                                                .B = panels,
                                                .B_stride = B_stride,
                                                .panel_stride = panel_stride,
                                                .C = C + row * C_stride + col,
                                                .C_stride = C_stride,
                                                .rows = std::min(rows_in_cache, A.rows - row),
                                                .depth = depth,
                                                .cols = cols,
                                                .accumulate = k > 0,
                                                .last = k + depth == B.rows,
                                                .bias = bias == nullptr ? nullptr : bias + col,
                                                .factor = 1.0F});
            finite = finite && fine;
        }
    };
    const bool in_place = A.rows <= few_rows || B.rows <= short_depth;
    const std::int64_t direct = in_place ? B.cols / kernels.panel * kernels.panel : 0;
    for (std::int64_t k = 0; k < B.rows && direct > 0; k += short_depth)
        multiply(k, std::min(short_depth, B.rows - k), 0, direct, B.data + k * B.stride, B.stride,
                 kernels.panel);
    for (std::int64_t col = direct; col < B.cols; col += packed_cols)
        for (std::int64_t k = 0; k < B.rows; k += packed_depth) {
            const Block part{B.data + k * B.stride + col, B.stride, std::min(packed_depth, B.rows - k),
                             std::min(packed_cols, B.cols - col)};
            pack_panels(kernels, part, scratch);
            multiply(k, part.rows, col, part.cols, scratch, kernels.panel, part.rows * kernels.panel);
        }
    return finite;
}

bool multiply_packed(const Kernels& kernels, const Block& A, const float* panels, std::int64_t first,
                     std::int64_t cols, const float* bias, float* C, std::int64_t C_stride) {
    bool finite = true;
    for (std::int64_t k = 0; k < A.cols; k += packed_depth)
        for (std::int64_t row = 0; row < A.rows; row += rows_in_cache) {
            const bool fine = kernels.multiply({.A = A.data + row * A.stride + k,
                                                .A_stride = A.stride,
                                                .B = panels + first * A.cols + k * kernels.panel,
                                                .B_stride = kernels.panel,
                                                .panel_stride = kernels.panel * A.cols,
                                                .C = C + row * C_stride,
                                                .C_stride = C_stride,
                                                .rows = std::min(rows_in_cache, A.rows - row),
                                                .depth = std::min(packed_depth, A.cols - k),
                                                .cols = cols,
                                                .accumulate = k > 0,
                                                .last = k + packed_depth >= A.cols,
                                                .bias = bias,
                                                .factor = 1.0F});
            finite = finite && fine;
        }
    return finite;
}

void cap_scores(std::span<float> scores, float cap) {
    std::ranges::transform(scores, scores.begin(),
                           [cap](float score) { return cap * std::tanh(score / cap); });
}

} // namespace headscope::cpu
