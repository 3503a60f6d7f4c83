#include "core/checkpoint/run/block_trace.h"

#include "core/checkpoint/model/model_edits.h"

#include <Eigen/Core>

namespace headscope::checkpoint {

const TensorPtr& BlockTrace::find(TensorId id) const {
    return is_block_weight(id) ? weights[*weight_of(id)] : (*this)[id];
}

float BlockTrace::value(TensorId id, Index at) const {
    if (id == TensorId::logits || id == TensorId::probabilities)
        at[1] -= position;
    const Tensor& tensor = *find(id);
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
