#include "core/checkpoint/run/expert_at_token.h"

#include "core/checkpoint/graph/model_stages.h"
#include "core/engine/cpu/dense.h"
#include "core/engine/cpu/rows/layer_rows.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

namespace {

/// The fraction of an expert at a token whose vector is `row`, also where the token does not use it.
float fraction_of(const BlockTrace& block, const Tensor& row, std::int64_t expert, std::int64_t token) {
    const Tensor& routing = *block[TensorId::routing];
    if (const float used = routing.at(0, token, expert); used > 0)
        return used;
    const Tensor& W = *block.weights[TensorId::W_router];
    const TensorPtr b = block.weights[TensorId::b_router];
    double number = b == nullptr ? 0.0 : static_cast<double>(b->values()[static_cast<std::size_t>(expert)]);
    for (std::int64_t c = 0; c < row.count(); ++c)
        number += static_cast<double>(row.data()[c]) * static_cast<double>(W.at(c, expert));
    return static_cast<float>(1.0 / (1.0 + std::exp(-number)));
}

} // namespace

ExpertAtToken expert_at_token(const BlockTrace& block, std::int64_t expert, std::int64_t token,
                              const Progress& cancel) {
    const std::int64_t width = block.config->D;
    const auto D = static_cast<std::size_t>(width);
    ExpertAtToken out{.place = block.place,
                      .expert = expert,
                      .token = token,
                      .reads = block.stages->sources(block.place, TensorId::routing).front(),
                      .gate = {},
                      .in = {},
                      .act = {},
                      .adds = {}};
    Tensor row(Shape{1, 1, width},
               block[out.reads]->values().subspan(static_cast<std::size_t>(token) * D, D));
    if (block.stages->scales_expert_input(block.place)) {
        out.input_scale = fraction_of(block, row, expert, token);
        for (float& number : row.values())
            number *= out.input_scale;
    }
    cpu::CpuDense cpu;
    const auto times = [&](TensorId weight, TensorId bias) {
        return cpu.multiply(row, *block.weights.row(weight, expert), block.weights.row(bias, expert).get(),
                            cancel);
    };
    const auto gate = times(TensorId::expert_W_gate, TensorId::expert_b_gate),
               in = times(TensorId::expert_W_in, TensorId::expert_b_in);
    out.gate.assign(gate->values().begin(), gate->values().end());
    out.in.assign(in->values().begin(), in->values().end());
    cpu::open_gates(cpu, in->values(), gate->values(), block.stages->expert_gate(block.place), cancel);
    out.act.assign(in->values().begin(), in->values().end());
    out.adds = row_lengths(*block.weights.row(TensorId::expert_W_out, expert));
    std::ranges::transform(out.adds, out.act, out.adds.begin(),
                           [](float length, float act) { return length * std::abs(act); });
    return out;
}

} // namespace headscope::checkpoint
