#include "core/checkpoint/model/layers.h"

#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>

namespace headscope::checkpoint {

namespace {

std::int64_t width_of(const Tensor& x) {
    return x.shape().back(0);
}

std::int64_t rows_of(const Tensor& x) {
    return x.count() / width_of(x);
}

ConstRow row(const Tensor& x, std::int64_t i = 0) {
    return {x.data() + i * width_of(x), width_of(x)};
}

float sigmoid(float v) {
    return 1.0F / (1.0F + std::exp(-v));
}

/// In double, so that the bits do not depend on the vectors that sum it up.
void norm_row(const Tensor& x, std::int64_t i, NormKind kind, const Tensor* weight, const Tensor* bias,
              double eps, Tensor& y) {
    Eigen::RowVectorXd centred = row(x, i).cast<double>();
    if (kind == NormKind::layer)
        centred.array() -= centred.mean();
    const double scale = 1.0 / std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()) + eps);
    MutableRow out(y.data() + i * width_of(y), width_of(y));
    out = (centred * scale).cast<float>();
    if (weight != nullptr)
        out.array() *= row(*weight).array();
    if (bias != nullptr)
        out += row(*bias);
}

} // namespace

MutableTensor norm(cpu::CpuDense& cpu, const Tensor& x, NormKind kind, const Tensor* weight,
                   const Tensor* bias, double eps) {
    MutableTensor y = cpu.make(x.shape());
    cpu.for_rows(rows_of(x), 20 * width_of(x), [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i)
            norm_row(x, i, kind, weight, bias, eps, *y);
    });
    return y;
}

void activate(cpu::CpuDense& cpu, Tensor& x, Activation activation, const Progress& cancel) {
    using enum cpu::CpuDense::Function;
    MutableNumbers numbers(x.data(), x.count());
    switch (activation) {
    case Activation::gelu:
        return cpu.apply(gelu, x.values(), cancel);
    case Activation::gelu_tanh:
        return cpu.apply(gelu_tanh, x.values(), cancel);
    case Activation::silu:
        return cpu.apply(silu, x.values(), cancel);
    case Activation::gelu_quick:
        numbers *= (1.702F * numbers).unaryExpr(&sigmoid);
        return;
    case Activation::relu:
        numbers = numbers.max(0.0F);
        return;
    case Activation::relu6:
        numbers = numbers.max(0.0F).min(6.0F);
        return;
    case Activation::relu_square:
        numbers = numbers.max(0.0F).square();
        return;
    case Activation::leaky_relu:
        numbers = numbers.max(0.01F * numbers);
        return;
    case Activation::mish:
        numbers *= numbers.unaryExpr([](float v) { return std::tanh(std::log1p(std::exp(v))); });
        return;
    case Activation::tanh:
        numbers = numbers.unaryExpr([](float v) { return std::tanh(v); });
        return;
    case Activation::sigmoid:
        numbers = numbers.unaryExpr(&sigmoid);
        return;
    case Activation::linear:
        return;
    }
}

MutableTensor sum(cpu::CpuDense& cpu, const Tensor& x, const Tensor& y) {
    MutableTensor out = cpu.make(x.shape());
    MutableNumbers(out->data(), out->count()) =
        ConstNumbers(x.data(), x.count()) + ConstNumbers(y.data(), y.count());
    return out;
}

namespace {

MutableTensor mlp_of_rows(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, Activation activation,
                          const Note& note, const Progress& cancel) {
    MutableTensor inside =
        cpu.multiply(x, *layer[WeightId::mlp_in], layer[WeightId::mlp_in_bias].get(), cancel);
    if (note)
        note(TensorId::mlp_pre, *inside);
    if (const TensorPtr& gate = layer[WeightId::mlp_gate]) {
        MutableTensor opened = cpu.multiply(x, *gate, layer[WeightId::mlp_gate_bias].get(), cancel);
        if (note)
            note(TensorId::mlp_gate, *opened);
        activate(cpu, *opened, activation, cancel);
        MutableNumbers(inside->data(), inside->count()) *= ConstNumbers(opened->data(), opened->count());
    } else {
        activate(cpu, *inside, activation, cancel);
    }
    if (note)
        note(TensorId::mlp_act, *inside);
    return cpu.multiply(*inside, *layer[WeightId::mlp_out], layer[WeightId::mlp_out_bias].get(), cancel);
}

} // namespace

MutableTensor mlp(cpu::CpuDense& cpu, const Tensor& x, const WeightSet& layer, Activation activation,
                  const Note& note, const Progress& cancel) {
    constexpr std::int64_t numbers_at_once = std::int64_t{1} << 22U; // of d_ff
    const std::int64_t rows = rows_of(x), D = width_of(x),
                       most = std::max<std::int64_t>(numbers_at_once / width_of(*layer[WeightId::mlp_in]), 1);
    if (note || rows <= most)
        return mlp_of_rows(cpu, x, layer, activation, note, cancel);
    MutableTensor out = cpu.make(x.shape());
    for (std::int64_t first = 0; first < rows; first += most) {
        const std::int64_t count = std::min(most, rows - first);
        const Tensor part(Shape{1, count, D}, x.values().subspan(static_cast<std::size_t>(first * D),
                                                                 static_cast<std::size_t>(count * D)));
        std::ranges::copy(mlp_of_rows(cpu, part, layer, activation, note, cancel)->values(),
                          out->data() + first * D);
    }
    return out;
}

TensorPtr softmax(const Tensor& x) {
    auto out = std::make_shared<Tensor>(x.shape());
    for (std::int64_t i = 0; i < rows_of(x); ++i) {
        const Eigen::ArrayXd powers = (row(x, i).array() - row(x, i).maxCoeff()).cast<double>().exp();
        MutableRow(out->data() + i * width_of(x), width_of(x)) =
            (powers / powers.sum()).cast<float>().matrix();
    }
    return out;
}

} // namespace headscope::checkpoint
