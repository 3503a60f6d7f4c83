#include "core/analysis/projection_loop.h"

#include "core/tensor/views.h"

#include <algorithm>

namespace headscope::analysis {

namespace {

ProjectionPair compare(TensorId whole, const Tensor& source, const Tensor& weights, const Tensor* bias,
                       std::int64_t heads) {
    const std::int64_t T = source.shape()[1], D = source.shape()[2];
    const std::int64_t columns = weights.shape()[1], width = columns / heads;
    const ConstRows x(source.data(), T, D), W(weights.data(), D, columns);
    const Eigen::RowVectorXf b = bias == nullptr ? Eigen::RowVectorXf(Eigen::RowVectorXf::Zero(columns))
                                                 : ConstRow(bias->data(), columns);
    const RowMatrix once = (x * W).rowwise() + b;
    ProjectionPair pair{
        .whole = whole, .heads = heads, .x = {T, D}, .slice = {D, width}, .matrix = {D, columns}};
    for (std::int64_t h = 0; h < heads; ++h) {
        const RowMatrix own = (x * W.middleCols(h * width, width)).rowwise() + b.segment(h * width, width);
        const auto largest = [&](const auto& other) {
            return static_cast<double>((own - other).cwiseAbs().maxCoeff());
        };
        pair.difference = std::max(pair.difference, largest(once.middleCols(h * width, width)));
        pair.without_transpose =
            std::max(pair.without_transpose, largest(ConstRows(once.data() + h * T * width, T, width)));
    }
    return pair;
}

} // namespace

std::vector<ProjectionPair> compare_projections(const Problem& problem) {
    const Dims& d = problem.dims;
    const Weights& w = problem.weights;
    const Tensor& kv = problem.has_source() ? *problem.x_kv : *problem.x;
    return {compare(TensorId::q, *problem.x, *w.W_Q, w.b_Q.get(), d.H),
            compare(TensorId::k, kv, *w.W_K, w.b_K.get(), d.Hkv),
            compare(TensorId::v, kv, *w.W_V, w.b_V.get(), d.Hkv)};
}

} // namespace headscope::analysis
