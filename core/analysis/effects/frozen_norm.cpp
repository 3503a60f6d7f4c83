#include "core/analysis/effects/frozen_norm.h"

#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::analysis {

namespace {

MutableRows matrix_of(Tensor& tensor) {
    return {tensor.data(), tensor.shape()[0], tensor.shape()[1]};
}

} // namespace

FrozenNorm::FrozenNorm(std::span<const float> x, const checkpoint::NormOfRows& norm, TensorPtr weight)
    : centered_(norm.centered), weight_(std::move(weight)) {
    Eigen::ArrayXd numbers = view_of(x).cast<double>();
    if (centered_)
        numbers -= numbers.mean();
    scale_ = 1.0 / std::sqrt(numbers.square().mean() + norm.eps);
}

FrozenNorm FrozenNorm::of(const graph::Node& node, std::span<const float> x, TensorPtr weight) {
    if (node.op == graph::Op::scale)
        return FrozenNorm(std::get<graph::Scale>(node.attributes).factor);
    return {x,
            {.centered = node.op == graph::Op::layer_norm,
             .eps = std::get<graph::Norm>(node.attributes).eps,
             .weight = {},
             .bias = {}},
            std::move(weight)};
}

void FrozenNorm::apply(Tensor& rows) const {
    auto all = matrix_of(rows);
    if (centered_)
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
    if (centered_)
        all.rowwise() -= all.colwise().mean().eval();
}

void scale_by(Tensor& rows, double factor) {
    if (factor != 1.0)
        MutableNumbers(rows.data(), rows.count()) *= static_cast<float>(factor);
}

void pass_norm(Tensor& rows, const Tensor& read, const checkpoint::NormOfRows& norm,
               const TensorPtr& weight) {
    const std::int64_t D = rows.shape()[1];
    const auto width = static_cast<std::size_t>(D);
    for (std::int64_t t = 0; t < rows.shape()[0]; ++t) {
        const auto first = static_cast<std::size_t>(t) * width;
        const std::span<float> own = rows.values().subspan(first, width);
        Tensor row(Shape{1, D}, own);
        FrozenNorm(read.values().subspan(first, width), norm, weight).apply(row);
        std::ranges::copy(row.values(), own.begin());
    }
}

} // namespace headscope::analysis
