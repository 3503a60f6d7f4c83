#pragma once

#include "app/state/document.h"
#include "app/state/view_state.h"
#include "core/analysis/head_metrics.h"
#include "core/trace/trace.h"

#include <memory>
#include <vector>

namespace headscope::app {

/// A document with the trace that belongs to it: what is on screen. Both are of the same revision.
struct Shown {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace;
    std::vector<analysis::HeadMetrics> metrics; ///< of batch entry 0
    std::vector<CellAddress> largest = {};      ///< of B − A: the cell of each tensor that changed most

    const Problem& problem() const { return document->problem; }
    const Dims& dims() const { return document->problem.dims; }
    /// A stage or an input; null where the problem has none (mask, gain and absent biases always).
    const Tensor* tensor(TensorId id) const;
    /// One number. The tensor must exist.
    float value(const CellAddress& cell) const;
};

} // namespace headscope::app
