#include "core/checkpoint/run/block_trace.h"

#include <Eigen/Core>

namespace headscope::checkpoint {

float BlockTrace::value(TensorId id, Index at) const {
    if (id == TensorId::logits || id == TensorId::probabilities)
        at[1] -= position;
    const Tensor& tensor = *(*this)[id];
    return tensor.data()[tensor.shape().offset(at)];
}

std::vector<float> row_lengths(const Tensor& x) {
    using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const std::int64_t D = x.shape().back(0);
    const Eigen::Map<const Rows> rows(x.data(), x.count() / D, D);
    const Eigen::VectorXf lengths = rows.rowwise().norm();
    return {lengths.begin(), lengths.end()};
}

} // namespace headscope::checkpoint
