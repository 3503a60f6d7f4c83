#include "core/engine/cpu/weights_tile.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/cpu/head_scores.h"

#include <vector>

namespace headscope::cpu {

namespace {

void check(const Problem& problem, const Trace& trace, const WeightsTile& tile) {
    const Dims& d = trace.dims;
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
        return first >= 0 && count >= 1 && count <= extent && first <= extent - count;
    };
    if (!inside(tile.b, 1, d.B) || !inside(tile.h, 1, d.H) || !inside(tile.row, tile.rows, d.Tq) ||
        !inside(tile.col, tile.cols, d.Tk))
        fail_input(tr("rows {} to {} and columns {} to {} of head {} in batch entry {} are asked for; the "
                      "weights have (B, H, Tq, Tk) = {}",
                      tile.row, tile.row + tile.rows - 1, tile.col, tile.col + tile.cols - 1, tile.h, tile.b,
                      Shape({d.B, d.H, d.Tq, d.Tk}).text()));
    const bool columns = heads_are_columns(problem.parts());
    if (trace.softmax == nullptr || trace.stage(columns ? TensorId::q : TensorId::q_heads) == nullptr ||
        trace.stage(columns ? TensorId::k : TensorId::k_heads) == nullptr)
        // Translators: {} is "q, k" or "q_heads, k_heads"
        fail_input(tr("the trace keeps no {} and sums of the softmax; run it with them and without weights",
                      columns ? "q, k" : "q_heads, k_heads"));
}

} // namespace

Tensor weights_tile(const Problem& problem, const Trace& trace, const WeightsTile& tile) {
    check(problem, trace, tile);
    const Kernels& kernels = best_kernels();
    const engine::HeadRows queries = engine::query_rows(problem, trace, tile.b, tile.h);
    Block keys = block_of(engine::key_rows(problem, trace, tile.b, trace.dims.kv_head(tile.h)), trace.dims);
    keys.data += tile.col * keys.stride;
    keys.rows = tile.cols;
    const HeadScores scores(kernels, problem, tile.b, tile.h, block_of(queries, trace.dims), keys, tile.col);
    std::vector<RowSoftmax> softmax;
    for (std::int64_t i = tile.row; i < tile.row + tile.rows; ++i)
        softmax.push_back({trace.softmax->at(tile.b, tile.h, i, 0), trace.softmax->at(tile.b, tile.h, i, 1)});
    Tensor weights(Shape{tile.rows, tile.cols});
    scores.weights({tile.row, tile.rows, tile.col, tile.cols}, softmax.data(), weights.data(), tile.cols);
    return weights;
}

} // namespace headscope::cpu
