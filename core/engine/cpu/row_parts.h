#pragma once

#include "core/attention/graph_of_problem.h"
#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/engine/cpu/rows/attention_rows.h"
#include "core/run/run.h"
#include "core/tensor/tensor.h"
#include "core/trace/stage_set.h"

#include <cstdint>
#include <memory>

namespace headscope::cpu {

/// Computes the stages of size Tq x Tk, or Tq x D per head, some rows at a time, so that no whole stage is in
/// memory. The numbers equal those of CpuEngine, bit for bit. Memory: queries, keys and values of all heads,
/// a packed copy of the keys and values, terms by relative position as they are, and the part itself. For one
/// thread at a time, without other runs of the machine meanwhile.
class RowParts {
public:
    /// scores, scaled, masked, weights, weights_mean and contributions.
    static StageSet stages();

    /// Projects queries, keys and values. Throws Error(input) for an invalid problem and for numbers outside
    /// float32's range; Error(cancelled). `progress` must outlive this object.
    RowParts(const Problem& problem, std::shared_ptr<CpuMachine> machine, Progress& progress);

    /// Returns (batches, heads, rows, width), or (batches, rows, Tk) for weights_mean, whose part must have
    /// all heads. Throws the same.
    TensorPtr make(TensorId stage, const RowPart& part);

private:
    Problem problem_;
    std::shared_ptr<CpuMachine> machine_;
    CpuBackend backend_{machine_};
    AttentionGraph graph_;
    run::Leaves leaves_;
    Progress& progress_;
    run::RunPtr heads_; ///< queries, keys and values
};

} // namespace headscope::cpu
