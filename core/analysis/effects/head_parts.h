#pragma once

#include "core/attention/problem.h"

#include <Eigen/Core>

namespace headscope::analysis {

// Parts of an attention's tensors that belong to one head, without a copy.

using RowMajorMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstRows = Eigen::Map<const RowMajorMatrix>;
using ConstRow = Eigen::Map<const Eigen::RowVectorXf>;

/// The row of one head's weights, (Tk), of weights (1, H, Tq, Tk).
inline ConstRow weights_of(const Tensor& weights, std::int64_t head, std::int64_t query) {
    return {weights.data() + weights.offset(0, head, query, 0), weights.shape()[3]};
}

/// The values that a head reads, (Tk, dv), of values (1, Tk, Hkv dv).
inline auto values_of_head(const Tensor& values, const Dims& dims, std::int64_t head) {
    return ConstRows(values.data(), values.shape()[1], values.shape()[2])
        .middleCols(dims.kv_head(head) * dims.dv, dims.dv);
}

/// The rows of W_O that a head's output multiplies, (dv, D).
inline auto rows_of_output_weights(const Problem& problem, std::int64_t head) {
    const Tensor& W_O = *problem.weights.W_O;
    return ConstRows(W_O.data(), W_O.shape()[0], W_O.shape()[1])
        .middleRows(head * problem.dims.dv, problem.dims.dv);
}

} // namespace headscope::analysis
