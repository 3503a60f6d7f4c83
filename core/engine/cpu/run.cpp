#include "core/engine/cpu/run.h"

#include <algorithm>
#include <tuple>

namespace headscope::cpu {

CpuRun::CpuRun(const Problem& problem, StageSet wanted, Progress& progress, CpuMachine& machine)
    : problem_(problem), d_(problem.dims), wanted_(wanted & StageSet::of(parts_)),
      dirty_(DirtySet::all(problem.dims.H, StageSet::of(parts_))), progress_(progress), machine_(machine),
      mask_(problem.mask, problem.dims), factor_(score_factor(d_, problem.temperature)),
      key_stride_(whole_panels(kernels_, d_.Tk)) {}

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

/// The mean over heads, summed in their order.
void CpuRun::average_heads() {
    const Tensor& A = computed_stage(TensorId::weights);
    Tensor& mean = make(TensorId::weights_mean);
    const std::int64_t rows = A.shape()[2];
    const float share = 1.0F / static_cast<float>(d_.H);
    for_tasks(A.shape()[0] * rows, A.count(), [&](std::int64_t row, int) {
        const std::int64_t b = row / rows, i = row % rows;
        float* const out = mean.data() + mean.offset(b, i, 0);
        std::copy_n(A.data() + A.offset(b, 0, i, 0), d_.Tk, out);
        for (std::int64_t h = 1; h < d_.H; ++h) {
            const float* const w = A.data() + A.offset(b, h, i, 0);
            for (std::int64_t j = 0; j < d_.Tk; ++j)
                out[j] += w[j];
        }
        for (std::int64_t j = 0; j < d_.Tk; ++j)
            out[j] *= share;
    });
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
