#include "core/analysis/effects/logit_direction.h"

#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/layers.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::WeightId;
using From = LogitQuestion::From;
using Vector = Eigen::VectorXd;

/// As TableReading, of numbers further on.
struct Reading {
    Vector direction;
    double bias = 0;
};

Vector numbers(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    return Eigen::Map<const Eigen::VectorXf>(tensor.data() + first, count).cast<double>();
}

/// From behind the head's own dense layer, activation and norm to what that layer reads, (1, 1, D).
Reading before_dense(const Model& model, cpu::CpuDense& cpu, Reading reading, const Tensor& read,
                     const Progress& cancel) {
    const checkpoint::Architecture& a = model.architecture();
    const TensorPtr dense = model.weight(WeightId::head_dense),
                    dense_bias = model.weight(WeightId::head_dense_bias);
    const auto before = cpu.multiply(read, *dense, dense_bias.get(), cancel);
    Tensor after(before->shape(), before->values());
    activate(cpu, after, a.head_activation, cancel);
    const std::int64_t width = before->count();
    if (const TensorPtr bias = model.weight(WeightId::head_norm_bias))
        reading.bias += numbers(*bias, 0, width).dot(reading.direction);
    Tensor direction(Shape{width, 1});
    Eigen::Map<Eigen::VectorXf>(direction.data(), width) = reading.direction.cast<float>();
    FrozenNorm(after.values(), a.norm, model.weight(WeightId::head_norm_weight), a.norm_eps)
        .turn_back(direction);
    const Eigen::ArrayXd z = numbers(*before, 0, width).array(), act = numbers(after, 0, width).array();
    const Vector held =
        (numbers(direction, 0, width).array() * (z == 0.0).select(0.0, act / (z == 0.0).select(1.0, z)))
            .matrix();
    if (dense_bias != nullptr)
        reading.bias += numbers(*dense_bias, 0, width).dot(held);
    reading.direction = ConstRows(dense->data(), dense->shape()[0], width).cast<double>() * held;
    return reading;
}

} // namespace

double TableReading::of(const Tensor& x) const {
    return numbers(x, 0, x.count()).dot(Eigen::Map<const Vector>(direction.data(), std::ssize(direction))) +
           bias;
}

TableReading table_reading(const Model& model, const checkpoint::ModelEdits& edits,
                           const LogitQuestion& question) {
    const std::int64_t D = model.architecture().D, vocab = model.architecture().vocab;
    const checkpoint::EditedTable table(model, edits, WeightId::output_table);
    const TensorPtr bias = checkpoint::edited_end_weight(model, edits, WeightId::output_bias);
    const auto row = [&](std::int64_t id) -> Vector {
        return Eigen::Map<const Eigen::VectorXf>(table.row(id).data(), D).cast<double>();
    };
    const auto bias_of = [&](std::int64_t id) {
        return bias == nullptr ? 0.0 : static_cast<double>(bias->data()[id]);
    };
    Reading reading{row(question.token), bias_of(question.token)};
    if (question.from == From::token) {
        reading.direction -= row(question.against);
        reading.bias -= bias_of(question.against);
    } else if (question.from == From::mean) {
        Vector sum = Vector::Zero(D);
        for (std::int64_t first = 0; first < vocab; first += 1024)
            sum += ConstRows(table.own().data() + first * D, std::min<std::int64_t>(1024, vocab - first), D)
                       .colwise()
                       .sum()
                       .transpose()
                       .cast<double>();
        for (const auto& [id, numbers] : table.changed())
            sum += row(id) - Eigen::Map<const Eigen::VectorXf>(table.own_row(id).data(), D).cast<double>();
        reading.direction -= sum / static_cast<double>(vocab);
        if (bias != nullptr)
            reading.bias -= numbers(*bias, 0, vocab).mean();
    }
    return {{reading.direction.begin(), reading.direction.end()}, reading.bias};
}

LogitDirection logit_direction(const Model& model, const checkpoint::ForwardPass& pass,
                               const TableReading& table, const Tensor& left, cpu::CpuDense& cpu,
                               const Progress& cancel) {
    const checkpoint::Architecture& a = model.architecture();
    Reading reading{Eigen::Map<const Vector>(table.direction.data(), a.D), table.bias};
    const TensorPtr ended = a.final_norm ? pass.final_normed(cpu, left) : nullptr;
    const Tensor& normed = ended == nullptr ? left : *ended;
    const TensorPtr head_in = pass.head_input(cpu, a.final_norm_in_head ? left : normed, cancel);
    if (model.weight(WeightId::head_dense) != nullptr) {
        Tensor read(normed.shape(), normed.values());
        for (float& number : read.values())
            number *= static_cast<float>(a.head_scale);
        reading = before_dense(model, cpu, std::move(reading), read, cancel);
    }
    reading.direction *= a.head_scale;
    LogitDirection out{
        .head_in = head_in, .direction = Tensor(Shape{a.D, 1}), .final_bias = {}, .bias = reading.bias};
    Eigen::Map<Eigen::VectorXf>(out.direction.data(), a.D) = reading.direction.cast<float>();
    if (a.final_norm) {
        const checkpoint::WeightSet last = pass.final_norm_weights();
        if (const TensorPtr& bias = last[WeightId::final_norm_bias])
            out.final_bias = numbers(*bias, 0, a.D).dot(reading.direction);
        FrozenNorm(left.values(), a.norm, last[WeightId::final_norm_weight], a.norm_eps)
            .turn_back(out.direction);
    }
    return out;
}

} // namespace headscope::analysis
