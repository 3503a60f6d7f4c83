#include "core/analysis/effects/mixed_weights.h"

#include "core/tensor/views.h"

namespace headscope::analysis {

TensorPtr mixed_weights(Problem problem, const float* other, const Mixture& mixture, engine::Engine& engine,
                        Progress& progress) {
    // x becomes [x, other], and the matrices get as many rows again for the second half.
    const std::int64_t T = problem.dims.Tq, D = problem.dims.D;
    auto x = std::make_shared<Tensor>(Shape{1, T, 2 * D});
    MutableRows(x->data(), T, 2 * D) << ConstRows(problem.x->data(), T, D), ConstRows(other, T, D);
    problem.x = x;
    const auto stacked = [&](const TensorPtr& weight, float own, float of_other) -> TensorPtr {
        const std::int64_t columns = weight->shape()[1];
        const ConstRows above(weight->data(), D, columns);
        auto out = std::make_shared<Tensor>(Shape{2 * D, columns});
        MutableRows(out->data(), 2 * D, columns) << own * above, of_other * above;
        return out;
    };
    Weights& w = problem.weights;
    w.W_Q = stacked(w.W_Q, mixture.queries_own, mixture.queries_other);
    w.W_K = stacked(w.W_K, mixture.keys_own, mixture.keys_other);
    w.W_V = stacked(w.W_V, 0.0F, 0.0F);
    w.W_O = std::make_shared<const Tensor>(Shape{problem.dims.H * problem.dims.dv, 2 * D}, 0.0F);
    w.b_O = nullptr;
    problem.dims.D = problem.dims.Dkv = 2 * D;
    Trace trace = engine.run(problem, StageSet().with(TensorId::weights), progress);
    return trace.slot(TensorId::weights);
}

} // namespace headscope::analysis
