#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

#include <cstdint>

namespace headscope::engine {

/// Throws Error(input) if a problem of these sizes has no head h or no batch entry b.
void check_head(const Dims& dims, std::int64_t b, std::int64_t h);

/// The queries (Tq, dk) or the keys (Tk, dk) of one head, as a view into a tensor.
struct HeadRows {
    TensorPtr tensor;
    const float* data = nullptr; ///< the first row, in `tensor`
    std::int64_t stride = 0, rows = 0;
};

struct ProjectedHead {
    HeadRows queries, keys;
};

/// The queries of head h and the keys that it reads, in batch entry b. Projects only this head, or all heads
/// if a norm combines them. Throws what check_head and Engine::run throw.
ProjectedHead project_head(const Problem& problem, std::int64_t b, std::int64_t h, Engine& projections,
                           Progress& progress);

} // namespace headscope::engine
