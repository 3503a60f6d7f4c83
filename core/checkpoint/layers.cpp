#include "core/checkpoint/layers.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<Matrix>;
using ConstView = Eigen::Map<const Matrix>;
using Row = Eigen::Map<const Eigen::RowVectorXf>;

constexpr std::int64_t tile_rows = 64;

std::int64_t rows_of(const Tensor& x) {
    return x.shape()[0] * x.shape()[1];
}

ConstView view(const Tensor& x) {
    return {x.data(), x.count() / x.shape().back(0), x.shape().back(0)};
}

View view(Tensor& x) {
    return {x.data(), x.count() / x.shape().back(0), x.shape().back(0)};
}

Row row(const Tensor& x) {
    return {x.data(), x.count()};
}

MutableTensor like(const Tensor& x, std::int64_t width) {
    return std::make_shared<Tensor>(Shape{x.shape()[0], x.shape()[1], width});
}

/// y = x times a matrix, tile by tile.
template<class Factor>
void multiply(const Tensor& x, const Factor& W, const Tensor* b, Tensor& y, const Progress& cancel) {
    for (std::int64_t first = 0; first < rows_of(x); first += tile_rows) {
        cancel.check();
        const std::int64_t count = std::min(tile_rows, rows_of(x) - first);
        auto out = view(y).middleRows(first, count);
        out.noalias() = view(x).middleRows(first, count) * W;
        if (b != nullptr)
            out.rowwise() += row(*b);
    }
}

float gelu(float x) {
    return 0.5F * x * (1.0F + std::erf(x * static_cast<float>(1.0 / std::numbers::sqrt2)));
}

/// Hendrycks and Gimpel 2016, "Gaussian Error Linear Units", section 2.
float gelu_tanh(float x) {
    constexpr double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2 / pi)
    constexpr float cubic = 0.044715F;
    return 0.5F * x * (1.0F + std::tanh(static_cast<float>(scale) * (x + cubic * x * x * x)));
}

float silu(float x) {
    return x / (1.0F + std::exp(-x));
}

} // namespace

MutableTensor linear(const Tensor& x, const Tensor& W, const Tensor* b, const Progress& cancel) {
    MutableTensor y = like(x, W.shape()[1]);
    multiply(x, view(W), b, *y, cancel);
    return y;
}

MutableTensor linear_by_rows(const Tensor& x, const Tensor& table, const Tensor* b, const Progress& cancel) {
    MutableTensor y = like(x, table.shape()[0]);
    multiply(x, view(table).transpose(), b, *y, cancel);
    return y;
}

MutableTensor norm(const Tensor& x, const Tensor& gain, const Tensor* shift, double eps) {
    MutableTensor y = like(x, x.shape().back(0));
    for (std::int64_t i = 0; i < rows_of(x); ++i) {
        Eigen::RowVectorXd centred = view(x).row(i).cast<double>();
        if (shift != nullptr)
            centred.array() -= centred.mean();
        const double scale =
            1.0 / std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()) + eps);
        auto out = view(*y).row(i);
        out = ((centred * scale).cast<float>().array() * row(gain).array()).matrix();
        if (shift != nullptr)
            out += row(*shift);
    }
    return y;
}

void activate(Tensor& x, Activation activation) {
    const auto values = x.values();
    switch (activation) {
    case Activation::gelu:
        std::ranges::transform(values, values.begin(), gelu);
        return;
    case Activation::gelu_tanh:
        std::ranges::transform(values, values.begin(), gelu_tanh);
        return;
    case Activation::relu:
        std::ranges::transform(values, values.begin(), [](float v) { return std::max(v, 0.0F); });
        return;
    case Activation::silu:
        std::ranges::transform(values, values.begin(), silu);
        return;
    }
}

MutableTensor sum(const Tensor& x, const Tensor& y) {
    MutableTensor out = like(x, x.shape().back(0));
    view(*out) = view(x) + view(y);
    return out;
}

MutableTensor mlp(const Tensor& x, const WeightSet& layer, Activation activation, const Progress& cancel) {
    MutableTensor inside = linear(x, *layer[Slot::mlp_in], layer[Slot::mlp_in_bias].get(), cancel);
    if (const TensorPtr& gate = layer[Slot::mlp_gate]) {
        MutableTensor opened = linear(x, *gate, layer[Slot::mlp_gate_bias].get(), cancel);
        activate(*opened, activation);
        view(*inside).array() *= view(*opened).array();
    } else {
        activate(*inside, activation);
    }
    return linear(*inside, *layer[Slot::mlp_out], layer[Slot::mlp_out_bias].get(), cancel);
}

} // namespace headscope
