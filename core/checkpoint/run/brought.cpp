#include "core/checkpoint/run/brought.h"

#include "core/tensor/views.h"

namespace headscope::checkpoint {

TensorPtr brought_lengths(const Problem& problem, const Tensor& values) {
    const Dims& d = problem.dims;
    const Tensor& W_O = *problem.weights.W_O;
    auto lengths = std::make_shared<Tensor>(Shape{1, d.H, d.Tk});
    for (std::int64_t h = 0; h < d.H; ++h) {
        const auto read = ConstRows(values.data(), d.Tk, d.Hkv * d.dv).middleCols(d.kv_head(h) * d.dv, d.dv);
        const ConstRows out(W_O.data() + h * d.dv * d.D, d.dv, d.D);
        Eigen::Map<Eigen::VectorXf>(lengths->data() + h * d.Tk, d.Tk) = (read * out).rowwise().norm();
    }
    return lengths;
}

} // namespace headscope::checkpoint
