#include "core/checkpoint/run/expert_at_token.h"

#include "core/checkpoint/model/block_stages.h"
#include "core/checkpoint/model/layers.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

ExpertAtToken expert_at_token(const BlockTrace& block, std::int64_t expert, std::int64_t token,
                              const Progress& cancel) {
    const Architecture& architecture = *block.architecture;
    const auto D = static_cast<std::size_t>(architecture.D);
    ExpertAtToken out{.place = block.place,
                      .expert = expert,
                      .token = token,
                      .reads = made_from(architecture, TensorId::mlp_pre, block.place.layer).front(),
                      .gate = {},
                      .in = {},
                      .act = {},
                      .adds = {}};
    const Tensor row(Shape{1, 1, architecture.D},
                     block[out.reads]->values().subspan(static_cast<std::size_t>(token) * D, D));
    cpu::CpuDense cpu;
    const ExpertUnits units = expert_units(cpu, row, block.weights, expert, architecture, cancel);
    out.gate.assign(units.gate->values().begin(), units.gate->values().end());
    out.in.assign(units.in->values().begin(), units.in->values().end());
    out.act.assign(units.act->values().begin(), units.act->values().end());
    out.adds = row_lengths(*block.weights.row(WeightId::experts_out, expert));
    std::ranges::transform(out.adds, out.act, out.adds.begin(),
                           [](float length, float act) { return length * std::abs(act); });
    return out;
}

} // namespace headscope::checkpoint
