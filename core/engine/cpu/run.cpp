#include "core/engine/cpu/run.h"

#include "core/engine/cpu/projections.h"

#include <algorithm>
#include <tuple>

namespace headscope::cpu {

CpuRun::CpuRun(const Problem& problem, Progress& progress, CpuMachine& machine)
    : problem_(problem), d_(problem.dims), wanted_(StageSet().with(TensorId::weights)),
      row_stages_(StageSet::of(parts_)), progress_(progress), machine_(machine),
      mask_(problem.mask, problem.dims) {}

CpuRun::CpuRun(const Problem& problem, KeyValueCache& cache, StageSet wanted, Progress& progress,
               CpuMachine& machine)
    : CpuRun(problem, progress, machine) {
    wanted_ = wanted & StageSet::of(parts_);
    cache_ = &cache;
    first_key_ = cache.rows();
}

Tensor& CpuRun::make(TensorId id) {
    auto& slot = own(id);
    if (slot == nullptr) {
        const TensorInfo& info = tensor_info(id);
        Dims dims = d_;
        std::tie(dims.B, dims.H, dims.Tq) = std::tie(part_.batches, part_.heads, part_.rows);
        if (std::ranges::find(info.axes, Axis::Tq) == info.axes.end())
            dims.Tk -= first_key_;
        slot = machine_.tensor_for(id, info.shape(dims));
    }
    return *slot;
}

bool CpuRun::wants_rows() const {
    using enum TensorId;
    return std::ranges::any_of(
        std::array{scores, scaled, masked, weights, weights_mean, head_out, concat, contributions, output},
        [this](TensorId id) { return wants(id); });
}

void CpuRun::average_heads() {
    const Tensor& A = computed_stage(TensorId::weights);
    cpu::average_heads(A, make(TensorId::weights_mean), machine_, progress_);
}

/// The attention from the scores on, without the results.
AttentionRows CpuRun::attention_rows() {
    RowStages stages = 0;
    for (std::size_t n = 0; n < row_stage_count; ++n)
        if (row_stages_.has(row_stage_ids[n]))
            stages |= bit_of(static_cast<RowStage>(n));
    std::vector<RowStages>& computed = machine_.computed_rows;
    computed.assign(static_cast<std::size_t>(d_.H), 0);
    std::fill_n(computed.begin() + part_.h, part_.heads, stages);
    return {.dims = d_,
            .part = part_,
            .queries = vectors(TensorId::q, TensorId::q_heads, d_.dk),
            .packed = &packed_,
            .mask = mask_.stored(),
            .factor = score_factor(d_, problem_.temperature),
            .score_cap = problem_.score_cap,
            .sinks = parts_.sink ? problem_.weights.sink->data() : nullptr,
            .gains = problem_.gains.empty() ? nullptr : problem_.gains.data(),
            .W_O = problem_.weights.W_O->data(),
            .computed = computed};
}

/// Packs the keys and values for the kernels, after those in the cache.
void CpuRun::pack() {
    using enum TensorId;
    if (cache_ != nullptr) {
        packed_ = cache_->room_for(d_, kernels_);
    } else {
        packed_ = packed_rows(d_, kernels_, d_.Tk);
        packed_.memory = machine_.packed_for(packed_.count());
    }
    if (first_key_ < d_.Tk)
        pack_keys_and_values(vectors(k, k_heads, d_.dk), vectors(v, v, d_.dv), attention_rows(), first_key_,
                             machine_, progress_);
}

/// Computes all per-head, per-row stages, from the scores on.
void CpuRun::attend_all(Trace& trace) {
    using enum TensorId;
    AttentionRows rows = attention_rows();
    for (std::size_t n = 0; n < row_stage_count; ++n) {
        const TensorId id = row_stage_ids[n];
        if (wants(id) || (id == concat && wants(output)))
            rows.stored[n] = &make(id);
    }
    compute_attention(rows, machine_, progress_, trace.fully_masked);
}

Trace CpuRun::compute() {
    using enum TensorId;
    Trace trace{.dims = d_,
                .stages = {},
                .fully_masked = {},
                .device = "cpu",
                .seconds = 0,
                .computed = {},
                .parts = parts_};
    progress_.check();
    const StageSet asked = wanted_;
    project_heads();
    if (wants_rows()) {
        if (wants(weights_mean))
            wanted_ = wanted_.with(weights);
        attend_all(trace);
        if (wants(weights_mean))
            average_heads();
        if (wants(output)) {
            const Projection of_concat = projection(output);
            project({&of_concat, 1});
        }
        wanted_ = asked;
    }
    for (const TensorInfo& info : stage_table())
        if (wants(info.id))
            trace.slot(info.id) = own(info.id);
    for (const TensorInfo& info : stage_table())
        if (!wants(info.id))
            machine_.recycle(info.id, own(info.id));
    if (wants(x))
        trace.slot(x) = problem_.x;
    trace.computed = DirtySet::all(d_.H, wanted_);
    cache_->rows_ = d_.Tk;
    return trace;
}

} // namespace headscope::cpu
