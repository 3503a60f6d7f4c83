#include "core/analysis/heads/merged_heads.h"

#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <cmath>

namespace headscope::analysis {

namespace {

/// A matrix, or a bias as one row.
ConstRows matrix_of(const Tensor& tensor) {
    const bool bias = tensor.shape().rank() == 1;
    return {tensor.data(), bias ? 1 : tensor.shape()[0], tensor.shape().back(0)};
}

TensorPtr tensor_from(const RowMatrix& matrix, bool bias) {
    return make_tensor(bias ? Shape{matrix.cols()} : Shape{matrix.rows(), matrix.cols()},
                       {matrix.data(), static_cast<std::size_t>(matrix.size())});
}

/// For each head in turn, its own block of columns, then those of all others times `share`.
TensorPtr own_and_others(const TensorPtr& tensor, std::span<const std::int64_t> blocks, std::int64_t width,
                         float share) {
    if (tensor == nullptr)
        return nullptr;
    const auto from = matrix_of(*tensor);
    const auto n = static_cast<std::int64_t>(blocks.size());
    RowMatrix out(from.rows(), n * n * width);
    std::int64_t column = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t step = 0; step < n; ++step, column += width)
            out.middleCols(column, width) =
                from.middleCols(blocks[static_cast<std::size_t>((i + step) % n)] * width, width) *
                (step == 0 ? 1.0F : share);
    return tensor_from(out, tensor->shape().rank() == 1);
}

} // namespace

Problem merged_heads(const Problem& problem, std::span<const std::int64_t> heads, float share) {
    const Dims& d = problem.dims;
    const auto n = static_cast<std::int64_t>(heads.size());
    if (n < 2)
        fail_input(tr("merged_heads.merging_takes_two_heads",
                      "merging needs at least two heads; name them, such as [0, 1, 2]"));
    for (const std::int64_t h : heads)
        if (h < 0 || h >= d.H)
            fail_input(tr("merged_heads.no_head_merge_heads",
                          "there is no head {} to merge; heads are numbered 0 to {}", h, d.H - 1));
    if (const AttentionGraph graph = attention_graph(problem); !graph.heads_are_columns())
        fail_input(tr("merged_heads.heads_cannot_merged_step",
                      "these heads cannot be merged: each head does the step \"{}\" separately; choose a "
                      "problem without this step",
                      graph.formula(TensorId::q_heads)));
    if (const ProblemParts parts = problem.parts();
        parts.sink || parts.qkv_limit || parts.gated || parts.relative_terms)
        fail_input(
            tr("merged_heads.heads_sink_whose_q",
               "heads with a sink, a gate or terms by relative position, or whose q, k and v are limited, "
               "cannot be merged; choose a problem without them"));
    std::vector<std::int64_t> kv_heads;
    for (const std::int64_t h : heads)
        kv_heads.push_back(d.kv_head(h));

    Problem out = problem;
    out.dims.H = out.dims.Hkv = n;
    out.dims.dk = n * d.dk;
    out.gains.clear();
    const Weights& weights = problem.weights;
    out.weights.W_Q = own_and_others(weights.W_Q, heads, d.dk, share);
    out.weights.b_Q = own_and_others(weights.b_Q, heads, d.dk, share);
    out.weights.W_K = own_and_others(weights.W_K, kv_heads, d.dk, 1);
    out.weights.b_K = own_and_others(weights.b_K, kv_heads, d.dk, 1);
    RowMatrix W_V(d.Dkv, n * d.dv), W_O(n * d.dv, d.D);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        W_V.middleCols(i * d.dv, d.dv) = matrix_of(*weights.W_V).middleCols(kv_heads[at] * d.dv, d.dv);
        W_O.middleRows(i * d.dv, d.dv) = matrix_of(*weights.W_O).middleRows(heads[at] * d.dv, d.dv);
    }
    out.weights.W_V = tensor_from(W_V, false);
    out.weights.W_O = tensor_from(W_O, false);
    out.weights.b_V = out.weights.b_O = nullptr;
    // The engine divides by the root of all n dk columns, whatever `share` leaves of them.
    const float others = static_cast<float>(n - 1) * share;
    out.temperature = problem.temperature * std::sqrt((1 + others) / static_cast<float>(n));
    try {
        const MaskRows fits(out.mask, out.dims);
    } catch (const Error&) {
        fail_input(tr("merged_heads.mask_rules_own_each",
                      "the mask has separate rules for each head, and a merged head can have only one; "
                      "choose a mask that applies to all heads"));
    }
    return out;
}

} // namespace headscope::analysis
