#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

namespace headscope::cpu {

/// A rectangle of one head's attention weights.
struct WeightsTile {
    std::int64_t b = 0, h = 0;
    std::int64_t row = 0, col = 0;   ///< its first query and key
    std::int64_t rows = 0, cols = 0; ///< >= 1
};

/// (rows, cols): weights that a run did not keep, made again from its q and k (q_heads and k_heads
/// where those are not columns of q and k) and Trace::softmax; on the machine that made the trace, the same
/// bits as if they had been kept. trace: of this very problem. Throws Error(input) when the rectangle leaves
/// the matrix or the trace lacks what it takes.
Tensor weights_tile(const Problem& problem, const Trace& trace, const WeightsTile& tile);

} // namespace headscope::cpu
