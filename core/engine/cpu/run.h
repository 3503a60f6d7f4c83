#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/products.h"
#include "core/engine/cpu/row_parts.h"
#include "core/engine/cpu/rows/attention_rows.h"
#include "core/engine/cpu/rows/head_rows.h"
#include "core/trace/trace.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headscope::cpu {

/// The stages that each tile of rows goes through, from the scores to `last`, at most to the contributions.
StageSet steps_up_to(TensorId last);

/// One run of the CPU engine: the tensors that are wanted or needed as intermediate results, and the steps
/// that fill them. Every number is one chain of operations in a fixed order, so that a partial run gives the
/// same bits as a full run, with any number of threads.
class CpuRun {
public:
    CpuRun(const Problem& problem, StageSet wanted, Progress& progress, CpuMachine& machine);
    /// Computes all stages; those that are not dirty are copied from `previous`, which must be complete.
    CpuRun(const Problem& problem, DirtySet dirty, const Trace& previous, Progress& progress,
           CpuMachine& machine);
    /// Computes the last Tq of Tk tokens; `cache` has the earlier tokens and receives the new ones. Tensors
    /// of keys and values only - k, v, k_heads, v_heads - have the rows of the Tq tokens. In cross-attention
    /// `cache` is empty or has all Tk.
    CpuRun(const Problem& problem, KeyValueCache& cache, StageSet wanted, Progress& progress,
           CpuMachine& machine);

    Trace compute();
    /// Computes queries, keys and values of all rows. Called before the first make_part, for a run that wants
    /// a stage of RowParts.
    void prepare_parts() { project_heads(); }
    /// The rows of a stage for RowParts, with its axes.
    TensorPtr make_part(TensorId id, const RowPart& part);

private:
    /// A projection of the rows of x: the columns of adjacent heads.
    struct Columns {
        TensorId id;
        const Tensor* x;
        const TensorPtr& W;
        const Tensor* b;
        std::int64_t first, count;
        WideProduct product() const;
    };
    bool wants(TensorId id) const { return wanted_.has(id); }
    bool wants_rows() const;
    Tensor& make(TensorId id);
    std::shared_ptr<Tensor>& own(TensorId id) { return tensors_[static_cast<std::size_t>(id)]; }
    const Tensor& computed_stage(TensorId id) const;

    void project_heads();
    void add_columns(std::vector<Columns>& all, TensorId id);
    void project(std::span<const Columns> all);
    [[noreturn]] void fail_projection(const Columns& columns, std::int64_t row, std::int64_t rows) const;
    /// Computes a stage that transforms each head's rows of its first input. Throws Error(input) for numbers
    /// outside float32's range.
    void make_head_rows(const TensorInfo& row);
    HeadRowStep head_row_step(const TensorInfo& stage) const;
    /// The rows of heads in `columns`, (B, T, heads width), or in `heads`, (B, heads, T, width), if the
    /// scores read those.
    HeadVectors vectors(TensorId columns, TensorId heads, std::int64_t width) const;
    AttentionRows attention_rows();
    void pack();
    void attend_all(Trace& trace);
    void average_heads();

    const Problem& problem_;
    const Dims& d_;
    /// the computed part of the row-wise stages
    RowPart part_{.batches = d_.B, .heads = d_.H, .rows = d_.Tq};
    KeyValueCache* cache_ = nullptr;
    std::int64_t first_key_ = 0; ///< the first that this run projects; earlier ones are in the cache
    ProblemParts parts_ = problem_.parts();
    bool reads_heads_ =
        !heads_are_columns(parts_); ///< scores read q_heads and k_heads; else q and k in place
    StageSet wanted_;
    DirtySet dirty_;
    StageSet stages_ = dirty_.stages();
    const Trace* previous_ = nullptr;
    Progress& progress_;
    CpuMachine& machine_;
    const Kernels& kernels_ = machine_.kernels;
    MaskRows mask_;
    std::array<std::shared_ptr<Tensor>, tensor_count> tensors_;
    PackedRows packed_; ///< keys and values of all Tk tokens
};

} // namespace headscope::cpu
