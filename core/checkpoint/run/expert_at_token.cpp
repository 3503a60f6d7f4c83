#include "core/checkpoint/run/expert_at_token.h"

#include "core/checkpoint/model/block_stages.h"
#include "core/engine/cpu/dense.h"
#include "core/engine/cpu/rows/layer_rows.h"

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
    const auto times = [&](WeightId weight, WeightId bias) {
        return cpu.multiply(row, *block.weights.row(weight, expert), block.weights.row(bias, expert).get(),
                            cancel);
    };
    const auto gate = times(WeightId::experts_gate, WeightId::experts_gate_bias),
               in = times(WeightId::experts_in, WeightId::experts_in_bias);
    out.gate.assign(gate->values().begin(), gate->values().end());
    out.in.assign(in->values().begin(), in->values().end());
    cpu::open_gates(cpu, in->values(), gate->values(), architecture.expert_gate, cancel);
    out.act.assign(in->values().begin(), in->values().end());
    out.adds = row_lengths(*block.weights.row(WeightId::experts_out, expert));
    std::ranges::transform(out.adds, out.act, out.adds.begin(),
                           [](float length, float act) { return length * std::abs(act); });
    return out;
}

} // namespace headscope::checkpoint
