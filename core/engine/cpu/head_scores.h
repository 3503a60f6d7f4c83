#pragma once

#include "core/attention/problem.h"
#include "core/engine/cpu/blocks.h"
#include "core/engine/head_projection.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace headscope::cpu {

constexpr float no_score = -std::numeric_limits<float>::infinity();

/// The parameters of one row's softmax: weight = exp(score - largest) * factor.
struct RowSoftmax {
    float largest = 0; ///< the row's largest masked score, including its sink
    float factor = 0;  ///< 1 / sum of exp(score - largest); 0 for a fully masked row
};

/// A part of the scores of one head.
struct ScorePart {
    std::int64_t row = 0, rows = 0;
    std::int64_t col = 0, cols = 0;
};

/// The masked scores of one head, computed part by part from its queries and keys. Owns a copy of the keys,
/// packed for the kernels. Any thread may use every member.
class HeadScores {
public:
    /// queries: (Tq, dk) of head h in batch entry b; keys: (Tk, dk). `queries` and `problem`, of which the
    /// mask, temperature, soft cap and terms by relative position are used, must outlive this object. Throws
    /// what MaskRows throws; Error(input) for terms outside float32's range.
    HeadScores(const Kernels& kernels, const Problem& problem, std::int64_t b, std::int64_t h,
               const Block& queries, const Block& keys);

    /// Writes rows of `stride` numbers to `out`: the scores of a part, minus infinity for masked keys.
    /// part.col must be a multiple of the panel width. Throws Error(input) for a score outside float32's
    /// range.
    void compute(const ScorePart& part, float* out, std::int64_t stride) const;
    /// Same, then converts the scores to weights. softmax: one element for each row of the part.
    void weights(const ScorePart& part, const RowSoftmax* softmax, float* out, std::int64_t stride) const;

    MaskRow mask(std::int64_t i) const { return masks_.row(b_, h_, i); }
    /// The logit of the attention sink, which each row's softmax includes; minus infinity if there is none.
    float sink() const;
    const Dims& dims() const { return problem_.dims; }
    const Kernels& kernels() const { return kernels_; }
    /// Throws Error(input) because the largest masked score of row i is outside float32's range.
    [[noreturn]] void fail_masked_score(std::int64_t i) const;

private:
    /// The products of rows with the vectors of relative positions that a term reads, (rows, distances).
    std::vector<float> relative_products(const Block& rows, const Tensor& W, const Tensor* b) const;
    void add_terms(const ScorePart& part, float* scores, std::int64_t stride) const;
    [[noreturn]] void fail_score(const ScorePart& part, const float* scores, std::int64_t stride) const;

    const Kernels& kernels_;
    const Problem& problem_;
    std::int64_t b_, h_;
    Block queries_;
    float factor_;
    MaskRows masks_;
    std::vector<std::int64_t> relative_rows_; ///< by i - j + Tk - 1
    std::vector<float> c2p_, p2c_; ///< (Tq, distances) and (Tk, distances); empty: there is no such term
    std::vector<float> panels_;    ///< of the keys, see pack_transposed_panels
};

/// The rows as a block. `rows` must outlive the result.
Block block_of(const engine::HeadRows& rows, const Dims& dims);

} // namespace headscope::cpu
