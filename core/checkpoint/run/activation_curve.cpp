#include "core/checkpoint/run/activation_curve.h"

#include "core/checkpoint/graph/model_stages.h"
#include "core/engine/cpu/rows/layer_rows.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

void add_activation(cpu::CpuDense& cpu, BlockTrace& block, const Progress& cancel) {
    const TensorPtr& sparse = block[TensorId::mlp_sparse];
    const TensorPtr& gate = sparse == nullptr ? block[TensorId::mlp_gate] : sparse;
    const TensorPtr& before = gate == nullptr ? block[TensorId::mlp_pre] : gate;
    if (before == nullptr)
        return;
    const graph::Function function = block.stages->activation(block.place);
    const auto activated = [&](const Tensor& x) {
        auto out = std::make_shared<Tensor>(x.shape(), x.values());
        cpu::activate(cpu, out->values(), function, cancel);
        return out;
    };
    const bool as_is = gate == nullptr && block.patched.empty();
    block.activated = as_is ? block[TensorId::mlp_act] : activated(*before);
    const auto [low, high] = std::ranges::minmax(before->values());
    const float end = std::max({4.0F, std::ceil(high), std::ceil(-low)});
    constexpr std::int64_t points = 257;
    Tensor x(Shape{points});
    for (std::int64_t i = 0; i < points; ++i)
        x.data()[i] = std::lerp(-end, end, static_cast<float>(i) / static_cast<float>(points - 1));
    const TensorPtr y = activated(x);
    for (std::int64_t i = 0; i < points; ++i)
        block.curve.push_back({x.data()[i], y->data()[i]});
}

} // namespace headscope::checkpoint
