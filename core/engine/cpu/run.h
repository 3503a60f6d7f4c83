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
#include <memory>
#include <span>
#include <vector>

namespace headscope::cpu {

/// The tensors of the stages in RowStage.
inline constexpr std::array<TensorId, row_stage_count> row_stage_ids{
    TensorId::scores,   TensorId::scaled, TensorId::masked,       TensorId::weights,
    TensorId::head_out, TensorId::concat, TensorId::contributions};

/// A run of attention whose keys and values come from a cache, or whose large stages are computed some rows
/// at a time. Every number is one chain of operations in a fixed order, so that it equals that of a whole
/// run, bit for bit, with any number of threads.
class CpuRun {
public:
    /// For make_part.
    CpuRun(const Problem& problem, Progress& progress, CpuMachine& machine);
    /// Computes the last Tq of Tk tokens; `cache` has the earlier tokens and receives the new ones. Tensors
    /// of keys and values only - k, v, k_heads, v_heads - have the rows of the Tq tokens. In cross-attention
    /// `cache` is empty or has all Tk.
    CpuRun(const Problem& problem, KeyValueCache& cache, StageSet wanted, Progress& progress,
           CpuMachine& machine);

    Trace compute();
    /// Computes queries, keys and values of all rows. Called before the first make_part.
    void prepare_parts() { project_heads(); }
    /// The rows of a stage for RowParts, with its axes.
    TensorPtr make_part(TensorId id, const RowPart& part);

private:
    /// x W + b; b may be null.
    struct Projection {
        TensorId id;
        const Tensor* x;
        const TensorPtr& W;
        const Tensor* b;
    };
    bool wants(TensorId id) const { return wanted_.has(id); }
    bool wants_rows() const;
    Tensor& make(TensorId id);
    std::shared_ptr<Tensor>& own(TensorId id) { return tensors_[static_cast<std::size_t>(id)]; }
    const Tensor& computed_stage(TensorId id) const { return *tensors_[static_cast<std::size_t>(id)]; }

    void project_heads();
    /// Of q, k, v or output.
    Projection projection(TensorId id) const;
    void project(std::span<const Projection> all);
    [[noreturn]] void fail_projection(const Projection& projection, const ProductPart& part) const;
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
    StageSet row_stages_; ///< the stages that each tile of rows goes through
    Progress& progress_;
    CpuMachine& machine_;
    const Kernels& kernels_ = machine_.kernels;
    MaskRows mask_;
    std::array<std::shared_ptr<Tensor>, tensor_count> tensors_;
    PackedRows packed_; ///< keys and values of all Tk tokens
};

} // namespace headscope::cpu
