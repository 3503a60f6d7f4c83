#include "core/analysis/effects/logit_attribution.h"

#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/run/forward_pass.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
using checkpoint::WeightId;
using From = LogitQuestion::From;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const RowMajor>;
using Vector = Eigen::VectorXd;

Vector numbers(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    return Eigen::Map<const Eigen::VectorXf>(tensor.data() + first, count).cast<double>();
}

void check(const checkpoint::ModelRun& run, const LogitQuestion& question) {
    const checkpoint::Architecture& a = run.model().architecture();
    if (!run.model().has_head())
        fail_input(run.model().path() + " has no language-model head, so that there are no logits; open a "
                                        "checkpoint that was saved with its head");
    require_number(question.position, run.inputs().T, "position");
    require_number(question.token, a.vocab, "token");
    if (question.from == From::token)
        require_number(question.against, a.vocab, "token");
}

/// A linear function of what the last layer leaves: direction . x + bias.
struct Reading {
    Vector direction; ///< (D)
    double bias = 0;
};

/// The rows of the output table that a question is about, and its biases.
Reading begin(const Model& model, const LogitQuestion& question) {
    const std::int64_t D = model.architecture().D, vocab = model.architecture().vocab;
    const TensorPtr table = model.weight(WeightId::output_table), bias = model.weight(WeightId::output_bias);
    const auto bias_of = [&](std::int64_t id) {
        return bias == nullptr ? 0.0 : static_cast<double>(bias->data()[id]);
    };
    Reading reading{numbers(*table, question.token * D, D), bias_of(question.token)};
    if (question.from == From::token) {
        reading.direction -= numbers(*table, question.against * D, D);
        reading.bias -= bias_of(question.against);
    } else if (question.from == From::mean) {
        Vector sum = Vector::Zero(D);
        for (std::int64_t first = 0; first < vocab; first += 1024)
            sum += Rows(table->data() + first * D, std::min<std::int64_t>(1024, vocab - first), D)
                       .colwise()
                       .sum()
                       .transpose()
                       .cast<double>();
        reading.direction -= sum / static_cast<double>(vocab);
        if (bias != nullptr)
            reading.bias -= numbers(*bias, 0, vocab).mean();
    }
    return reading;
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
    reading.direction = Rows(dense->data(), dense->shape()[0], width).cast<double>() * held;
    return reading;
}

} // namespace

LogitAttribution logit_attribution(const checkpoint::ModelRun& run, const LogitQuestion& question,
                                   const Progress& cancel) {
    check(run, question);
    const Model& model = run.model();
    const checkpoint::Architecture& a = model.architecture();
    cpu::CpuDense cpu;
    const checkpoint::ForwardPass pass(model, run.inputs(), run.edits());
    const StreamWriters stream(run, question.position, attention_count(a), question.sources, cpu, cancel);

    Reading reading = begin(model, question);
    const Tensor left(Shape{1, 1, a.D}, stream.stream());
    const TensorPtr ended = a.final_norm ? pass.final_normed(cpu, left) : nullptr;
    const Tensor& normed = ended == nullptr ? left : *ended;
    LogitAttribution out;
    const TensorPtr head_in = pass.head_input(cpu, a.final_norm_in_head ? left : normed, cancel);
    out.logit = numbers(*head_in, 0, head_in->count()).dot(reading.direction) + reading.bias;
    out.capped = out.logit;
    if (a.logit_cap != 0.0) {
        const TensorPtr logits = pass.logits_of(cpu, *head_in, cancel);
        const auto at = [&](std::int64_t id) { return static_cast<double>(logits->data()[id]); };
        out.capped =
            at(question.token) - (question.from == From::zero    ? 0.0
                                  : question.from == From::token ? at(question.against)
                                                                 : numbers(*logits, 0, a.vocab).mean());
    }

    if (model.weight(WeightId::head_dense) != nullptr) {
        Tensor read(normed.shape(), normed.values());
        for (float& number : read.values())
            number *= static_cast<float>(a.head_scale);
        reading = before_dense(model, cpu, std::move(reading), read, cancel);
    }
    reading.direction *= a.head_scale;
    Tensor direction(Shape{a.D, 1});
    std::optional<double> final_bias;
    Eigen::Map<Eigen::VectorXf>(direction.data(), a.D) = reading.direction.cast<float>();
    if (a.final_norm) {
        const checkpoint::WeightSet last = pass.final_norm_weights();
        if (const TensorPtr& bias = last[WeightId::final_norm_bias])
            final_bias = numbers(*bias, 0, a.D).dot(reading.direction);
        FrozenNorm(left.values(), a.norm, last[WeightId::final_norm_weight], a.norm_eps).turn_back(direction);
    }
    const Tensor values = stream.along(direction);
    std::vector<std::vector<float>> sources(stream.writers().size());
    if (question.sources)
        sources = stream.by_source(direction);
    for (std::size_t n = 0; n < stream.writers().size(); ++n)
        out.parts.push_back(
            {stream.writers()[n], static_cast<double>(values.data()[n]), std::move(sources[n])});
    if (final_bias)
        out.parts.push_back({{.kind = Writer::Kind::final_norm_bias}, *final_bias, {}});
    if (reading.bias != 0.0)
        out.parts.push_back({{.kind = Writer::Kind::head_bias}, reading.bias, {}});
    return out;
}

} // namespace headscope::analysis
