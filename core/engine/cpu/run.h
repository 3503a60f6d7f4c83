#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/cpu/blocks.h"
#include "core/engine/cpu/key_value_cache.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/products.h"
#include "core/engine/cpu/row_parts.h"
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
    /// The memory of one worker for a tile of query rows.
    struct Scratch {
        float *scores, *queries, *out, *panels;
        std::vector<MaskedRow> fully_masked;
    };
    struct Tile {
        std::int64_t b, h, first, rows;
        std::int64_t begin, end; ///< keys outside are not allowed for any of the rows
    };

    bool wants(TensorId id) const { return wanted_.has(id); }
    bool wants_rows() const;
    bool is_stored(TensorId id, std::int64_t head) const { return wants(id) && dirty_.has(id, head); }
    Tensor& make(TensorId id);
    std::shared_ptr<Tensor>& own(TensorId id) { return tensors_[static_cast<std::size_t>(id)]; }
    const Tensor& computed_stage(TensorId id) const;
    template<class Task>
    void for_tasks(std::int64_t count, std::int64_t flops, const Task& task) {
        machine_.for_tasks(progress_, count, flops, task);
    }

    void project_heads();
    void add_columns(std::vector<Columns>& all, TensorId id);
    void project(std::span<const Columns> all);
    /// The machine's cached panels of W, packed now if they are new; null if W is not cached.
    const float* cached_panels(const TensorPtr& W);
    [[noreturn]] void fail_projection(const Columns& columns, std::int64_t row, std::int64_t rows) const;
    /// Computes a stage that transforms each head's rows of its first input. Throws Error(input) for numbers
    /// outside float32's range.
    void make_head_rows(const TensorInfo& row);
    Block queries(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t rows) const;
    Block keys(std::int64_t b, std::int64_t g) const;
    Block values(std::int64_t b, std::int64_t g) const;
    void pack_keys_and_values();

    void attend_all(Trace& trace);
    void attend(const Tile& tile, Scratch& scratch);
    void score(const Tile& tile, Scratch& scratch);
    void apply_masks(const Tile& tile, Scratch& scratch);
    void softmax(const Tile& tile, Scratch& scratch);
    void sum_values(const Tile& tile, Scratch& scratch);
    void write_head_output(const Tile& tile, Scratch& scratch);
    void store_rows(TensorId id, const Tile& tile, const float* rows, std::int64_t stride);
    void load_rows(TensorId id, const Tile& tile, float* rows, std::int64_t stride) const;
    /// The address of row r of the tile in a tensor (B, H, Tq, width) of this run.
    float* row_of(Tensor& tensor, const Tile& tile, std::int64_t r) const {
        return tensor.data() +
               tensor.offset(tile.b - part_.b, tile.h - part_.h, tile.first + r - part_.row, 0);
    }
    [[noreturn]] void fail_scores(const Tile& tile, const float* rows) const;
    [[noreturn]] void fail_rows(const Tile& tile, const float* rows, std::int64_t cols,
                                const std::string& what, const std::string& remedy) const;
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
    float factor_;            ///< of the scores: 1 / (sqrt(dk) temperature)
    std::int64_t key_stride_; ///< numbers per row of scores: Tk, rounded up to whole panels
    std::array<std::shared_ptr<Tensor>, tensor_count> tensors_;
    PackedRows packed_; ///< of all Tk tokens
};

} // namespace headscope::cpu
