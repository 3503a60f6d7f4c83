#include "core/analysis/traced_weights.h"

namespace headscope::analysis {

TracedWeights::TracedWeights(const Problem& problem, const Trace& trace, std::int64_t b)
    : queries_(problem.tokens), keys_(problem.kv_tokens),
      weights_(trace.stages[static_cast<std::size_t>(TensorId::weights)]) {
    const Dims& d = trace.dims;
    info_.L = 1;
    info_.H = d.H;
    info_.Tq = d.Tq;
    info_.Tk = d.Tk;
    info_.axis = SetAxis::one;
    info_.numbers = {0};
    info_.held_as = "float32";
    info_.bytes = sizeof(float) * static_cast<std::uint64_t>(d.H * d.Tq * d.Tk);
    info_.cross = problem.cross();
    info_.sinks = problem.weights.sink != nullptr;
    if (d.B > 1)
        weights_ = std::make_shared<const Tensor>(
            Shape{1, d.H, d.Tq, d.Tk},
            weights_->values().subspan(static_cast<std::size_t>(weights_->offset(b, 0, 0, 0)),
                                       static_cast<std::size_t>(d.H * d.Tq * d.Tk)));
}

void TracedWeights::read_part(std::int64_t, std::int64_t h, const MapPart& part, std::span<float> to) const {
    copy_part(*weights_, h, part, to);
}

} // namespace headscope::analysis
