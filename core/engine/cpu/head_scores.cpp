#include "core/engine/cpu/head_scores.h"

#include "core/base/error.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headscope::cpu {

Block block_of(const engine::HeadRows& rows, const Dims& dims) {
    return {rows.data, rows.stride, rows.rows, dims.dk};
}

HeadScores::HeadScores(const Kernels& kernels, const Problem& problem, std::int64_t b, std::int64_t h,
                       const Block& queries, const Block& keys)
    : kernels_(kernels), problem_(problem), b_(b), h_(h), queries_(queries),
      factor_(score_factor(problem.dims, problem.temperature)), masks_(problem.mask, problem.dims),
      panels_(static_cast<std::size_t>(whole_panels(kernels, keys.rows) * keys.cols)) {
    pack_transposed_panels(kernels, keys, panels_.data());
}

void HeadScores::compute(const ScorePart& part, float* out, std::int64_t stride) const {
    const std::int64_t dk = queries_.cols, end = part.col + part.cols;
    if (!kernels_.multiply({.A = queries_.data + part.row * queries_.stride,
                            .A_stride = queries_.stride,
                            .B = panels_.data() + part.col * dk,
                            .B_stride = kernels_.panel,
                            .panel_stride = kernels_.panel * dk,
                            .C = out,
                            .C_stride = stride,
                            .rows = part.rows,
                            .depth = dk,
                            .cols = part.cols,
                            .factor = factor_}))
        fail_score(part, out, stride);
    for (std::int64_t r = 0; r < part.rows; ++r) {
        float* const s = out + r * stride;
        if (problem_.score_cap != 0.0F)
            cap_scores({s, static_cast<std::size_t>(part.cols)}, problem_.score_cap);
        const MaskRow row = mask(part.row + r);
        const std::int64_t from = std::clamp(row.begin, part.col, end) - part.col;
        const std::int64_t to = std::clamp(row.end, part.col + from, end) - part.col;
        if (row.add != nullptr)
            std::transform(s + from, s + to, row.add + part.col + from, s + from, std::plus<>());
        if (row.allowed != nullptr)
            std::transform(s + from, s + to, row.allowed + part.col + from, s + from,
                           [](float score, std::uint8_t allowed) { return allowed == 0 ? no_score : score; });
        std::fill(s, s + from, no_score);
        std::fill(s + to, s + part.cols, no_score);
    }
}

void HeadScores::weights(const ScorePart& part, const RowSoftmax* softmax, float* out,
                         std::int64_t stride) const {
    compute(part, out, stride);
    for (std::int64_t r = 0; r < part.rows; ++r) {
        float* const w = out + r * stride;
        if (softmax[r].factor == 0) {
            std::fill_n(w, part.cols, 0.0F);
            continue;
        }
        kernels_.exponentials(w, part.cols, softmax[r].largest);
        kernels_.scale_row(w, part.cols, softmax[r].factor, nullptr, false);
    }
}

float HeadScores::sink() const {
    return problem_.weights.sink == nullptr ? no_score : problem_.weights.sink->at(h_);
}

void HeadScores::fail_masked_score(std::int64_t i) const {
    engine::fail_masked_score(problem_.dims, b_, h_, i);
}

void HeadScores::fail_score(const ScorePart& part, const float* scores, std::int64_t stride) const {
    for (std::int64_t r = 0; r < part.rows; ++r) {
        const float* const row = scores + r * stride;
        const float* const bad =
            std::find_if(row, row + part.cols, [](float score) { return !std::isfinite(score); });
        if (bad != row + part.cols)
            engine::fail_score(problem_.dims, b_, h_, part.row + r, part.col + (bad - row));
    }
    throw Error(ErrorKind::internal, "a score was called not finite, but is");
}

} // namespace headscope::cpu
