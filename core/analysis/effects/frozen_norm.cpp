#include "core/analysis/effects/frozen_norm.h"

#include "core/tensor/views.h"

#include <cmath>
#include <utility>

namespace headscope::analysis {

namespace {

MutableRows matrix_of(Tensor& tensor) {
    return {tensor.data(), tensor.shape()[0], tensor.shape()[1]};
}

} // namespace

FrozenNorm::FrozenNorm(std::span<const float> x, checkpoint::NormKind kind, TensorPtr weight, double eps)
    : centred_(kind == checkpoint::NormKind::layer), weight_(std::move(weight)) {
    Eigen::ArrayXd numbers = view_of(x).cast<double>();
    if (centred_)
        numbers -= numbers.mean();
    scale_ = 1.0 / std::sqrt(numbers.square().mean() + eps);
}

void FrozenNorm::apply(Tensor& rows) const {
    auto all = matrix_of(rows);
    if (centred_)
        all.colwise() -= all.rowwise().mean().eval();
    all *= static_cast<float>(scale_);
    if (weight_ != nullptr)
        all.array().rowwise() *= ConstNumbers(weight_->data(), all.cols()).transpose();
}

void FrozenNorm::turn_back(Tensor& directions) const {
    auto all = matrix_of(directions);
    if (weight_ != nullptr)
        all.array().colwise() *= ConstNumbers(weight_->data(), all.rows());
    all *= static_cast<float>(scale_);
    if (centred_)
        all.rowwise() -= all.colwise().mean().eval();
}

} // namespace headscope::analysis
