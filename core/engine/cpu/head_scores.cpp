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
    const Weights& w = problem.weights;
    if (problem.relative)
        for (std::int64_t distance = 1 - problem.dims.Tk; distance < problem.dims.Tq; ++distance)
            relative_rows_.push_back(problem.relative->rows.row_of(distance));
    if (problem.relative && problem.relative->c2p)
        c2p_ = w.W_KR != nullptr ? relative_products(queries, *w.W_KR, w.b_KR.get())
                                 : relative_products(queries, *w.W_K, w.b_K.get());
    if (problem.relative && problem.relative->p2c)
        p2c_ = w.W_QR != nullptr ? relative_products(keys, *w.W_QR, w.b_QR.get())
                                 : relative_products(keys, *w.W_Q, w.b_Q.get());
}

std::vector<float> HeadScores::relative_products(const Block& rows, const Tensor& W, const Tensor* b) const {
    const Tensor& R = *problem_.rel_positions;
    const std::int64_t dk = rows.cols, count = R.shape()[0], D = R.shape()[1], first = h_ * dk;
    std::vector<float> positions(static_cast<std::size_t>(count * dk)),
        panels(static_cast<std::size_t>(whole_panels(kernels_, count) * dk)),
        products(static_cast<std::size_t>(rows.rows * count)),
        scratch(static_cast<std::size_t>(pack_scratch_size(kernels_)));
    const bool finite =
        multiply_block(kernels_, {R.data(), D, count, D}, {W.data() + first, W.shape()[1], D, dk},
                       b == nullptr ? nullptr : b->data() + first, positions.data(), dk, scratch.data());
    pack_transposed_panels(kernels_, {positions.data(), dk, count, dk}, panels.data());
    if (!finite || !multiply_packed(kernels_, rows, panels.data(), 0, count, nullptr, products.data(), count))
        engine::fail_head_rows(tensor_info(TensorId::rel_positions).name);
    return products;
}

/// Adds the terms by relative position to the products of queries and keys, then scales the sums.
void HeadScores::add_terms(const ScorePart& part, float* scores, std::int64_t stride) const {
    const std::int64_t count = problem_.dims.distances, Tk = problem_.dims.Tk;
    bool finite = true;
    for (std::int64_t r = 0; r < part.rows; ++r)
        for (std::int64_t c = 0; c < std::min(part.cols, Tk - part.col); ++c) {
            const std::int64_t i = part.row + r, j = part.col + c,
                               row = relative_rows_[static_cast<std::size_t>(i - j + Tk - 1)];
            float& score = scores[r * stride + c];
            if (!c2p_.empty())
                score += c2p_[static_cast<std::size_t>(i * count + row)];
            if (!p2c_.empty())
                score += p2c_[static_cast<std::size_t>(j * count + row)];
            score *= factor_;
            finite = finite && std::isfinite(score);
        }
    if (!finite)
        fail_score(part, scores, stride);
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
                            .factor = problem_.relative ? 1.0F : factor_}))
        fail_score(part, out, stride);
    if (problem_.relative)
        add_terms(part, out, stride);
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
