#include "core/checkpoint/model/layers.h"

#include "core/checkpoint/graph/stack_text.h"
#include "core/engine/cpu/rows/layer_rows.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

std::int64_t width_of(const Tensor& x) {
    return x.shape().back(0);
}

std::int64_t rows_of(const Tensor& x) {
    return x.count() / width_of(x);
}

const float* numbers_of(const Tensor* tensor) {
    return tensor == nullptr ? nullptr : tensor->data();
}

} // namespace

MutableTensor norm(cpu::CpuDense& cpu, const Tensor& x, NormKind kind, const Tensor* weight,
                   const Tensor* bias, double eps) {
    MutableTensor y = cpu.make(x.shape());
    cpu::norm_rows(cpu, x, kind == NormKind::layer, numbers_of(weight), numbers_of(bias), eps, *y);
    return y;
}

void activate(cpu::CpuDense& cpu, Tensor& x, Activation activation, const Progress& cancel) {
    cpu::activate(cpu, x.values(), function_of(activation), cancel);
}

MutableTensor sum(cpu::CpuDense& cpu, const Tensor& x, const Tensor& y) {
    MutableTensor out = cpu.make(x.shape());
    cpu::add(x.values(), y.values(), out->values());
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
        cpu::multiply_by(inside->values(), opened->values());
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
    cpu::softmax_rows(x, *out);
    return out;
}

} // namespace headscope::checkpoint
