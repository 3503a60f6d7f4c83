#include "core/engine/cpu/rows/experts.h"
#include "core/checkpoint/model/layers.h"
#include "core/engine/cpu/rows/layer_rows.h"

namespace headscope::checkpoint {

ExpertUnits expert_units(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, std::int64_t expert,
                         const Architecture& architecture, const Progress& cancel) {
    const auto times = [&](WeightId weight, WeightId bias) {
        return cpu.multiply(x, *layer.row(weight, expert), layer.row(bias, expert).get(), cancel);
    };
    ExpertUnits units{.gate = times(WeightId::experts_gate, WeightId::experts_gate_bias),
                      .in = times(WeightId::experts_in, WeightId::experts_in_bias),
                      .act = nullptr};
    units.act = std::make_shared<Tensor>(units.in->shape(), units.in->values());
    cpu::open_gates(units.act->values(), units.gate->values(), static_cast<float>(architecture.expert_slope),
                    static_cast<float>(architecture.expert_limit));
    return units;
}

MutableTensor mixture(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer,
                      const Architecture& architecture, const Note& note, const Progress& cancel) {
    using enum WeightId;
    const MutableTensor shares = cpu.multiply(x, *layer[router], layer[router_bias].get(), cancel);
    cpu::route_rows(shares->values(), architecture.experts, architecture.experts_used);
    if (note)
        note(TensorId::router, *shares);
    MutableTensor out = cpu.make(x.shape());
    const auto linear_of = [&](WeightId weight, WeightId bias, std::int64_t expert) {
        const TensorPtr W = layer.row(weight, expert), b = layer.row(bias, expert);
        return cpu::ExpertLinear{.W = {W->data(), W->shape()[1], W->shape()[0], W->shape()[1]},
                                 .b = b == nullptr ? nullptr : b->data(),
                                 .owner = W,
                                 .owner_of_b = b};
    };
    cpu::mix_experts(
        cpu, x, *shares,
        [&](std::int64_t expert) {
            return cpu::Expert{.gate = linear_of(experts_gate, experts_gate_bias, expert),
                               .in = linear_of(experts_in, experts_in_bias, expert),
                               .out = linear_of(experts_out, experts_out_bias, expert)};
        },
        static_cast<float>(architecture.expert_slope), static_cast<float>(architecture.expert_limit), *out,
        cancel);
    return out;
}

} // namespace headscope::checkpoint
