#include "core/engine/cpu/weights_tile.h"

#include "core/base/error.h"
#include "core/engine/cpu/blocks.h"

#include <algorithm>
#include <cmath>
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
        fail_input(
            "rows " + std::to_string(tile.row) + " to " + std::to_string(tile.row + tile.rows - 1) +
            " and columns " + std::to_string(tile.col) + " to " + std::to_string(tile.col + tile.cols - 1) +
            " of head " + std::to_string(tile.h) + " in batch entry " + std::to_string(tile.b) +
            " are asked for; the weights have (B, H, Tq, Tk) = " + Shape({d.B, d.H, d.Tq, d.Tk}).text());
    const bool columns = heads_are_columns(problem.parts());
    if (trace.softmax == nullptr || trace.stage(columns ? TensorId::q : TensorId::q_heads) == nullptr ||
        trace.stage(columns ? TensorId::k : TensorId::k_heads) == nullptr)
        fail_input(std::string("the trace keeps no ") + (columns ? "q, k" : "q_heads, k_heads") +
                   " and sums of the softmax; run it with them and without weights");
}

/// `count` rows of a head from `first` on, in q or k (B, T, heads * dk) or split by head.
Block rows_of(const Problem& problem, const Trace& trace, bool keys, std::int64_t b, std::int64_t head,
              std::int64_t first, std::int64_t count) {
    const std::int64_t dk = trace.dims.dk;
    if (!heads_are_columns(problem.parts())) {
        const Tensor& split = *trace.stage(keys ? TensorId::k_heads : TensorId::q_heads);
        return {split.data() + split.offset(b, head, first, 0), dk, count, dk};
    }
    const Tensor& joined = *trace.stage(keys ? TensorId::k : TensorId::q);
    return {joined.data() + joined.offset(b, first, head * dk), joined.shape()[2], count, dk};
}

} // namespace

Tensor weights_tile(const Problem& problem, const Trace& trace, const WeightsTile& tile) {
    check(problem, trace, tile);
    const Kernels& kernels = best_kernels();
    const Dims& d = trace.dims;
    const Block Q = rows_of(problem, trace, false, tile.b, tile.h, tile.row, tile.rows);
    const Block K = rows_of(problem, trace, true, tile.b, d.kv_head(tile.h), tile.col, tile.cols);
    std::vector<float> panels(static_cast<std::size_t>(whole_panels(kernels, tile.cols) * d.dk));
    pack_transposed_panels(kernels, K, panels.data());
    Tensor weights(Shape{tile.rows, tile.cols});
    kernels.multiply({.A = Q.data,
                      .A_stride = Q.stride,
                      .B = panels.data(),
                      .B_stride = kernels.panel,
                      .panel_stride = kernels.panel * d.dk,
                      .C = weights.data(),
                      .C_stride = tile.cols,
                      .rows = tile.rows,
                      .depth = d.dk,
                      .cols = tile.cols,
                      .factor = score_factor(d, problem.temperature)});
    if (problem.score_cap != 0.0F)
        cap_scores(weights.values(), problem.score_cap);
    const MaskRows masks(problem.mask, d);
    const std::int64_t end = tile.col + tile.cols;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
        const std::int64_t i = tile.row + r;
        const float largest = trace.softmax->at(tile.b, tile.h, i, 0);
        const float factor = trace.softmax->at(tile.b, tile.h, i, 1);
        const MaskRow mask = masks.row(tile.b, tile.h, i);
        float* const w = weights.data() + r * tile.cols;
        const std::int64_t from = std::clamp(mask.begin, tile.col, end) - tile.col;
        const std::int64_t to = std::clamp(mask.end, tile.col + from, end) - tile.col;
        for (std::int64_t c = from; c < to && mask.add != nullptr; ++c)
            w[c] += mask.add[tile.col + c];
        if (factor != 0)
            kernels.exponentials(w + from, to - from, largest);
        for (std::int64_t c = from; c < to; ++c)
            w[c] = factor == 0 || (mask.allowed != nullptr && mask.allowed[tile.col + c] == 0)
                       ? 0.0F
                       : w[c] * factor;
        std::fill(w, w + from, 0.0F);
        std::fill(w + to, w + tile.cols, 0.0F);
    }
    return weights;
}

} // namespace headscope::cpu
