#pragma once

#include "core/tensor/tensor.h"
#include "core/trace/dirty_set.h"
#include "core/trace/stage.h"

#include <array>
#include <string>
#include <vector>

namespace headscope {

/// A query row of one head that may attend to no key at all.
struct MaskedRow {
    std::int64_t b, h, i;
    bool operator==(const MaskedRow&) const = default;
};

/// The result of one run: the stages that were asked for, by name. Immutable once handed out; any thread may
/// read it. `masked` holds true minus infinity. Fully masked rows have weights, head_out and concat 0.
struct Trace {
    Dims dims;
    std::array<TensorPtr, tensor_count>
        stages;                          ///< by tensor; null where one was not asked for or is not there
    std::vector<MaskedRow> fully_masked; ///< ordered by b, h, i
    std::string device;                  ///< what computed it: "cpu"
    double seconds = 0.0;                ///< wall time of the run
    DirtySet computed{};  ///< what this run computed; the rest is shared with the trace before it
    ProblemParts parts{}; ///< of the problem
    /// Computed by the CPU, because the other device that computed the rest has no kernel for them.
    StageSet left_to_cpu{};

    /// Null when the stage was not asked for, or the problem has none.
    const Tensor* stage(TensorId id) const { return stages[static_cast<std::size_t>(id)].get(); }
    TensorPtr& slot(TensorId id) { return stages[static_cast<std::size_t>(id)]; }
};

} // namespace headscope
