#include "core/checkpoint/model/layers.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::checkpoint {

namespace {

using ExpertRows = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using ConstExpertRows =
    Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// (tokens, width)
ConstExpertRows matrix_of(const Tensor& x) {
    const std::int64_t width = x.shape().back(0);
    return {x.data(), x.count() / width, width};
}

/// A softmax over the largest `used` numbers of each row, of equal ones the first; 0 elsewhere.
void share_out(Tensor& routed, std::int64_t used) {
    const std::int64_t experts = routed.shape().back(0);
    std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
    for (std::int64_t first = 0; first < routed.count(); first += experts) {
        const std::span<float> row = routed.values().subspan(static_cast<std::size_t>(first), order.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::int64_t e) { return row[static_cast<std::size_t>(e)]; });
        const float largest = row[static_cast<std::size_t>(order.front())];
        double sum = 0;
        for (std::int64_t place = 0; place < experts; ++place) {
            float& number = row[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])];
            number = place < used ? std::exp(number - largest) : 0.0F;
            sum += static_cast<double>(number);
        }
        for (float& number : row)
            number = static_cast<float>(static_cast<double>(number) / sum);
    }
}

/// In place of `in`: (tokens, d_ff), what W_out multiplies.
void open_gates(Tensor& in, const Tensor& gates, const Architecture& architecture) {
    const auto slope = static_cast<float>(architecture.expert_slope);
    const auto limit = static_cast<float>(architecture.expert_limit);
    const float* from = gates.data();
    for (float& number : in.values()) {
        const float gate = std::min(*from++, limit);
        number = (std::clamp(number, -limit, limit) + 1.0F) * gate / (1.0F + std::exp(-slope * gate));
    }
}

} // namespace

ExpertUnits expert_units(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, std::int64_t expert,
                         const Architecture& architecture, const Progress& cancel) {
    const auto times = [&](WeightId weight, WeightId bias) {
        return cpu.multiply(x, *layer.row(weight, expert), layer.row(bias, expert).get(), cancel);
    };
    ExpertUnits units{.gate = times(WeightId::experts_gate, WeightId::experts_gate_bias),
                      .in = times(WeightId::experts_in, WeightId::experts_in_bias),
                      .act = nullptr};
    units.act = std::make_shared<Tensor>(units.in->shape(), units.in->values());
    open_gates(*units.act, *units.gate, architecture);
    return units;
}

MutableTensor mixture(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer,
                      const Architecture& architecture, const Note& note, const Progress& cancel) {
    using enum WeightId;
    const MutableTensor shares = cpu.multiply(x, *layer[router], layer[router_bias].get(), cancel);
    share_out(*shares, architecture.experts_used);
    if (note)
        note(TensorId::router, *shares);
    MutableTensor out = cpu.make(x.shape());
    std::ranges::fill(out->values(), 0.0F);
    ExpertRows sums(out->data(), x.count() / architecture.D, architecture.D);
    for (std::int64_t expert = 0; expert < architecture.experts; ++expert) {
        std::vector<Eigen::Index> tokens;
        for (Eigen::Index token = 0; token < sums.rows(); ++token)
            if (matrix_of(*shares)(token, expert) > 0.0F)
                tokens.push_back(token);
        if (tokens.empty())
            continue;
        Tensor chosen(Shape{1, std::ssize(tokens), architecture.D});
        ExpertRows(chosen.data(), std::ssize(tokens), architecture.D) = matrix_of(x)(tokens, Eigen::all);
        const ExpertUnits units = expert_units(cpu, chosen, layer, expert, architecture, cancel);
        const MutableTensor made = cpu.multiply(*units.act, *layer.row(experts_out, expert),
                                                layer.row(experts_out_bias, expert).get(), cancel);
        for (std::size_t n = 0; n < tokens.size(); ++n)
            sums.row(tokens[n]) +=
                matrix_of(*shares)(tokens[n], expert) * matrix_of(*made).row(static_cast<Eigen::Index>(n));
    }
    return out;
}

} // namespace headscope::checkpoint
