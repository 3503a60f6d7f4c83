#include "core/analysis/effects/head_parts.h"

#include "core/tensor/views.h"

#include <cmath>

namespace headscope::analysis {

namespace {

/// (queries, Tk) of one head from query `first` on.
ConstRows weights_of(const Tensor& weights, std::int64_t head, std::int64_t first, std::int64_t queries) {
    return {weights.data() + weights.offset(0, head, first, 0), queries, weights.shape()[3]};
}

/// The values that a head reads, (Tk, dv).
auto values_of_head(const Tensor& values, const Dims& dims, std::int64_t head) {
    return ConstRows(values.data(), values.shape()[1], values.shape()[2])
        .middleCols(dims.kv_head(head) * dims.dv, dims.dv);
}

/// The rows of W_O that a head's output multiplies, (dv, D).
auto rows_of_output_weights(const Problem& problem, std::int64_t head) {
    const Tensor& W_O = *problem.weights.W_O;
    return ConstRows(W_O.data(), W_O.shape()[0], W_O.shape()[1])
        .middleRows(head * problem.dims.dv, problem.dims.dv);
}

/// The gates of a head, (queries, dv).
auto gates_of_head(const Tensor& gates, const Dims& dims, std::int64_t head) {
    return ConstRows(gates.data(), gates.shape()[0], gates.shape()[1]).middleCols(head * dims.dv, dims.dv);
}

/// (dv): W_V of what the weights mix.
Eigen::RowVectorXf value_of_mixture(const Problem& problem, const Tensor& read, const ConstRows& weights,
                                    std::int64_t head) {
    const Dims& d = problem.dims;
    const std::int64_t first = d.kv_head(head) * d.dv;
    const Tensor& W_V = *problem.weights.W_V;
    const Eigen::RowVectorXf mixture = weights * ConstRows(read.data(), read.shape()[1], d.Dkv);
    Eigen::RowVectorXf value = mixture * ConstRows(W_V.data(), d.Dkv, W_V.shape()[1]).middleCols(first, d.dv);
    if (const TensorPtr& b_V = problem.weights.b_V)
        value += weights.sum() * ConstRow(b_V->data() + first, d.dv);
    return value;
}

} // namespace

TensorPtr head_gates(const Problem& problem, std::int64_t first, std::int64_t count) {
    const TensorPtr& W_G = problem.weights.W_G;
    if (W_G == nullptr)
        return nullptr;
    const std::int64_t depth = W_G->shape()[0], width = W_G->shape()[1];
    auto gates = std::make_shared<Tensor>(Shape{count, width});
    MutableRows rows(gates->data(), count, width);
    rows = ConstRows(problem.x->data() + first * depth, count, depth) * ConstRows(W_G->data(), depth, width);
    if (const TensorPtr& b_G = problem.weights.b_G)
        rows.rowwise() += ConstRow(b_G->data(), width);
    for (float& number : gates->values())
        number = 1.0F / (1.0F + std::exp(-number));
    return gates;
}

void write_of_head(const Problem& problem, const Tensor& weights, const Tensor* values, const Tensor& read,
                   const Tensor* gates, std::int64_t head, std::span<float> to) {
    const ConstRows row = weights_of(weights, head, 0, 1);
    Eigen::RowVectorXf value = values == nullptr
                                   ? value_of_mixture(problem, read, row, head)
                                   : Eigen::RowVectorXf(row * values_of_head(*values, problem.dims, head));
    if (gates != nullptr)
        value.array() *= gates_of_head(*gates, problem.dims, head).row(0).array();
    MutableRow(to.data(), problem.dims.D) =
        problem.gain(head) * value * rows_of_output_weights(problem, head);
}

Tensor parts_by_source(const Problem& problem, const Tensor& weights, const Tensor& values,
                       const Tensor* gates, std::int64_t head, const Tensor& directions) {
    const std::int64_t n = directions.shape()[0], Tk = weights.shape()[3];
    RowMatrix along =
        ConstRows(directions.data(), n, problem.dims.D) * rows_of_output_weights(problem, head).transpose();
    if (gates != nullptr)
        along.array() *= gates_of_head(*gates, problem.dims, head).array();
    Tensor out(Shape{n, Tk});
    MutableRows(out.data(), n, Tk) =
        problem.gain(head) * (along * values_of_head(values, problem.dims, head).transpose())
                                 .cwiseProduct(weights_of(weights, head, 0, n));
    return out;
}

} // namespace headscope::analysis
