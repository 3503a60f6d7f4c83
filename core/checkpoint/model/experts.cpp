#include "core/checkpoint/model/layers.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::checkpoint {

namespace {

using Rows = Eigen::Map<Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using ConstRows = Eigen::Map<const Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// (tokens, width)
ConstRows matrix_of(const Tensor& x) {
    const std::int64_t width = x.shape().back(0);
    return {x.data(), x.count() / width, width};
}

/// What a tensor (experts, ...) has for one expert; null of null.
MutableTensor part_of(const TensorPtr& experts, std::int64_t expert) {
    if (experts == nullptr)
        return nullptr;
    const Shape& all = experts->shape();
    const Shape shape = all.rank() == 3 ? Shape{all[1], all[2]} : Shape{all[1]};
    const auto count = static_cast<std::size_t>(shape.count());
    return std::make_shared<Tensor>(
        shape, experts->values().subspan(static_cast<std::size_t>(expert) * count, count));
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

/// (tokens, d_ff) from (tokens, 2 d_ff): the numbers of the gate stand at even places.
MutableTensor gated(cpu::CpuDense& cpu, const Tensor& gate_in, const Architecture& architecture) {
    const auto slope = static_cast<float>(architecture.expert_slope);
    const auto limit = static_cast<float>(architecture.expert_limit);
    const std::int64_t tokens = gate_in.shape().back(1);
    MutableTensor out = cpu.make({1, tokens, architecture.d_ff});
    const float* from = gate_in.data();
    for (float& number : out->values()) {
        const float gate = std::min(from[0], limit), in = std::clamp(from[1], -limit, limit);
        number = (in + 1.0F) * gate / (1.0F + std::exp(-slope * gate));
        from += 2;
    }
    return out;
}

} // namespace

MutableTensor mixture(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer,
                      const Architecture& architecture, const Note& note, const Progress& cancel) {
    using enum WeightId;
    const MutableTensor shares = cpu.multiply(x, *layer[router], layer[router_bias].get(), cancel);
    share_out(*shares, architecture.experts_used);
    if (note)
        note(TensorId::router, *shares);
    MutableTensor out = cpu.make(x.shape());
    std::ranges::fill(out->values(), 0.0F);
    Rows sums(out->data(), x.count() / architecture.D, architecture.D);
    for (std::int64_t expert = 0; expert < architecture.experts; ++expert) {
        std::vector<Eigen::Index> tokens;
        for (Eigen::Index token = 0; token < sums.rows(); ++token)
            if (matrix_of(*shares)(token, expert) > 0.0F)
                tokens.push_back(token);
        if (tokens.empty())
            continue;
        Tensor chosen(Shape{1, std::ssize(tokens), architecture.D});
        Rows(chosen.data(), std::ssize(tokens), architecture.D) = matrix_of(x)(tokens, Eigen::all);
        const MutableTensor gate_in =
            cpu.multiply(chosen, *part_of(layer[experts_gate_in], expert),
                         part_of(layer[experts_gate_in_bias], expert).get(), cancel);
        const MutableTensor made =
            cpu.multiply(*gated(cpu, *gate_in, architecture), *part_of(layer[experts_out], expert),
                         part_of(layer[experts_out_bias], expert).get(), cancel);
        for (std::size_t n = 0; n < tokens.size(); ++n)
            sums.row(tokens[n]) +=
                matrix_of(*shares)(tokens[n], expert) * matrix_of(*made).row(static_cast<Eigen::Index>(n));
    }
    return out;
}

} // namespace headscope::checkpoint
