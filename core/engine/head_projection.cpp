#include "core/engine/head_projection.h"

#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::engine {

namespace {

/// Columns, or rows, [first, first + count) of W, or those numbers of a bias. Null for null.
TensorPtr part_of(const TensorPtr& W, std::int64_t first, std::int64_t count, bool columns) {
    if (W == nullptr)
        return nullptr;
    if (W->shape().rank() == 1)
        return make_tensor(Shape{count}, W->values().subspan(static_cast<std::size_t>(first),
                                                             static_cast<std::size_t>(count)));
    const std::int64_t rows = W->shape()[0], cols = W->shape()[1];
    if (!columns)
        return make_tensor(Shape{count, cols}, W->values().subspan(static_cast<std::size_t>(first * cols),
                                                                   static_cast<std::size_t>(count * cols)));
    auto part = std::make_shared<Tensor>(Shape{rows, count});
    for (std::int64_t row = 0; row < rows; ++row)
        std::copy_n(W->data() + row * cols + first, count, part->data() + row * count);
    return part;
}

/// A problem with the queries and keys of head h: only this head, unless a norm combines all heads.
Problem projected(const Problem& problem, std::int64_t h) {
    Problem one = problem;
    const Dims& d = problem.dims;
    one.mask.clear();
    // Queries and keys do not depend on relative positions.
    one.relative.reset();
    one.rel_positions = nullptr;
    one.dims.distances = 0;
    one.weights.W_KR = one.weights.b_KR = one.weights.W_QR = one.weights.b_QR = nullptr;
    if (d.H == 1 || problem.parts().joint_norm)
        return one;
    const std::int64_t g = d.kv_head(h);
    Weights& w = one.weights;
    for (TensorPtr* const tensor : {&w.W_Q, &w.b_Q})
        *tensor = part_of(*tensor, h * d.dk, d.dk, true);
    for (TensorPtr* const tensor : {&w.W_K, &w.b_K})
        *tensor = part_of(*tensor, g * d.dk, d.dk, true);
    for (TensorPtr* const tensor : {&w.W_V, &w.b_V})
        *tensor = part_of(*tensor, g * d.dv, d.dv, true);
    w.W_O = part_of(w.W_O, h * d.dv, d.dv, false);
    w.sink = w.W_G = w.b_G = nullptr;
    one.gains.clear();
    one.dims.H = one.dims.Hkv = 1;
    return one;
}

/// The rows of one head in the trace: in the stage `split`, or as columns of the stage `columns`.
HeadRows head_rows(const Trace& trace, bool columns_hold_heads, TensorId columns, TensorId split,
                   std::int64_t b, std::int64_t head) {
    if (!columns_hold_heads) {
        const TensorPtr& heads = trace.stages[static_cast<std::size_t>(split)];
        return {heads, heads->data() + heads->offset(b, head, 0, 0), trace.dims.dk, heads->shape()[2]};
    }
    const TensorPtr& joined = trace.stages[static_cast<std::size_t>(columns)];
    return {joined, joined->data() + joined->offset(b, 0, head * trace.dims.dk), joined->shape()[2],
            joined->shape()[1]};
}

} // namespace

void check_head(const Dims& dims, std::int64_t b, std::int64_t h) {
    if (h < 0 || h >= dims.H)
        fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}", h,
                      dims.H - 1));
    if (b < 0 || b >= dims.B)
        fail_input(tr("head_projection.no_batch_entry_numbered",
                      "there is no batch entry {}; they are numbered 0 to {}", b, dims.B - 1));
}

ProjectedHead project_head(const Problem& problem, std::int64_t b, std::int64_t h, Engine& projections,
                           Progress& progress) {
    check_head(problem.dims, b, h);
    const Problem one = projected(problem, h);
    const std::int64_t head = one.dims.H == problem.dims.H ? h : 0;
    using enum TensorId;
    const bool columns = attention_graph(one).heads_are_columns();
    const StageSet wanted = columns ? StageSet{}.with(q).with(k) : StageSet{}.with(q_heads).with(k_heads);
    const Trace trace = projections.run(one, wanted, progress);
    return {head_rows(trace, columns, q, q_heads, b, head),
            head_rows(trace, columns, k, k_heads, b, one.dims.kv_head(head))};
}

} // namespace headscope::engine
