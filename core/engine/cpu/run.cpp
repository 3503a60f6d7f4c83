#include "core/engine/cpu/run.h"

#include "core/engine/cpu/projections.h"

#include <algorithm>
#include <tuple>

namespace headscope::cpu {

namespace {

/// The tensors of the stages in RowStage.
constexpr std::array<TensorId, row_stage_count> row_stages{
    TensorId::scores,   TensorId::scaled, TensorId::masked,       TensorId::weights,
    TensorId::head_out, TensorId::concat, TensorId::contributions};

} // namespace

CpuRun::CpuRun(const Problem& problem, StageSet wanted, Progress& progress, CpuMachine& machine)
    : problem_(problem), d_(problem.dims), wanted_(wanted & StageSet::of(parts_)),
      dirty_(DirtySet::all(problem.dims.H, StageSet::of(parts_))), progress_(progress), machine_(machine),
      mask_(problem.mask, problem.dims) {}

CpuRun::CpuRun(const Problem& problem, DirtySet dirty, const Trace& previous, Progress& progress,
               CpuMachine& machine)
    : CpuRun(problem, StageSet::all(), progress, machine) {
    dirty_ = std::move(dirty);
    stages_ = dirty_.stages();
    previous_ = &previous;
}

CpuRun::CpuRun(const Problem& problem, KeyValueCache& cache, StageSet wanted, Progress& progress,
               CpuMachine& machine)
    : CpuRun(problem, wanted, progress, machine) {
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
        const bool whole = std::ranges::all_of(dirty_.heads, [id](StageSet head) { return head.has(id); });
        if (previous_ != nullptr && !whole && !dirty_.whole.has(id))
            std::ranges::copy(previous_->stage(id)->values(), slot->data());
    }
    return *slot;
}

const Tensor& CpuRun::computed_stage(TensorId id) const {
    const Tensor* mine = tensors_[static_cast<std::size_t>(id)].get();
    return mine != nullptr || previous_ == nullptr ? *mine : *previous_->stage(id);
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

StageSet steps_up_to(TensorId last) {
    using enum TensorId;
    StageSet steps;
    for (const TensorId step : row_stages) {
        steps = steps.with(step);
        if (step == last)
            break;
    }
    return steps;
}

/// The attention from the scores on, without the results.
AttentionRows CpuRun::attention_rows() {
    std::vector<RowStages>& computed = machine_.computed_rows;
    computed.assign(static_cast<std::size_t>(d_.H), 0);
    for (std::size_t n = 0; n < row_stage_count; ++n)
        for (std::int64_t h = 0; h < d_.H; ++h)
            if (dirty_.has(row_stages[n], h))
                computed[static_cast<std::size_t>(h)] |= bit_of(static_cast<RowStage>(n));
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

/// Packs the keys and values of the dirty heads for the kernels, after those in the cache.
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
        const TensorId id = row_stages[n];
        if ((wants(id) || (id == concat && wants(output))) && stages_.has(id))
            rows.stored[n] = &make(id);
        if (previous_ != nullptr)
            rows.earlier[n] = previous_->stage(id);
    }
    if (previous_ != nullptr)
        std::ranges::copy_if(previous_->fully_masked, std::back_inserter(trace.fully_masked),
                             [this](const MaskedRow& row) { return !dirty_.has(weights, row.h); });
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
        if (wants(weights_mean) && stages_.has(weights_mean))
            average_heads();
        if (wants(output) && stages_.has(output)) {
            const Weights& w = problem_.weights;
            const Columns columns{output, &computed_stage(concat), w.W_O, w.b_O.get(), 0, d_.D};
            project({&columns, 1});
        }
        wanted_ = asked;
    }
    for (const TensorInfo& info : stage_table())
        if (wants(info.id))
            trace.slot(info.id) = previous_ != nullptr && !stages_.has(info.id)
                                      ? previous_->stages[static_cast<std::size_t>(info.id)]
                                      : own(info.id);
    for (const TensorInfo& info : stage_table())
        if (!wants(info.id))
            machine_.recycle(info.id, own(info.id));
    if (wants(x))
        trace.slot(x) = problem_.x;
    if (previous_ == nullptr) {
        dirty_.whole = wanted_;
        std::ranges::fill(dirty_.heads, wanted_);
    }
    trace.computed = std::move(dirty_);
    if (cache_ != nullptr)
        cache_->rows_ = d_.Tk;
    return trace;
}

} // namespace headscope::cpu
