#include "core/analysis/effects/logit_direction.h"

#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/graph/labels.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <utility>

namespace headscope::analysis {

namespace {

using checkpoint::Model;
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

/// From behind the head's own dense layer, activation and norm to what that layer reads. `before` and `after`
/// the activation: (1, 1, width).
Reading before_dense(const Model& model, Reading reading, const Tensor& before, const Tensor& after) {
    const TensorPtr dense = model.weight(TensorId::head_dense),
                    dense_bias = model.weight(TensorId::head_dense_bias);
    const std::int64_t width = before.count();
    if (const TensorPtr bias = model.weight(TensorId::head_norm_bias))
        reading.bias += numbers(*bias, 0, width).dot(reading.direction);
    Tensor direction(Shape{width, 1});
    Eigen::Map<Eigen::VectorXf>(direction.data(), width) = reading.direction.cast<float>();
    FrozenNorm(after.values(), model.stages().norm_around(checkpoint::Stack::own, graph::labels::head_norm),
               model.weight(TensorId::head_norm_weight))
        .turn_back(direction);
    const Eigen::ArrayXd z = numbers(before, 0, width).array(), act = numbers(after, 0, width).array();
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
    const checkpoint::EditedTable table(model, edits, TensorId::W_U);
    const std::int64_t D = table.own().shape()[1], vocab = model.config().vocab;
    const TensorPtr bias = checkpoint::edited_end_weight(model, edits, TensorId::b_U);
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

namespace {

/// The nodes of the head that a direction needs.
std::vector<std::string> nodes_of_head(const checkpoint::TextGraph& text) {
    std::vector<std::string> nodes{text.head_input()};
    for (const char* const name : {"head_dense", "head_act"})
        if (text.graph().try_find(name))
            nodes.emplace_back(name);
    return nodes;
}

/// A tensor of the same numbers that somebody owns elsewhere as long as needed.
TensorPtr shared(const Tensor& tensor) {
    return std::make_shared<const Tensor>(tensor.shape(), tensor.values());
}

} // namespace

LogitDirections::LogitDirections(const checkpoint::ModelRun& run)
    : run_(run), end_(run.text(), run.edits(), checkpoint::last_stream_node(*run.text()),
                      nodes_of_head(*run.text()), workshop_),
      logits_(run.text(), run.edits(), checkpoint::last_stream_node(*run.text()), {"logits"}, workshop_) {}

LogitDirection LogitDirections::of(const TableReading& table, const Tensor& left, const Progress& cancel) {
    const Model& model = run_.model();
    const std::int64_t D = model.config().D;
    Reading reading{Eigen::Map<const Vector>(table.direction.data(), std::ssize(table.direction)),
                    table.bias};
    Progress progress{Progress::CancelledWith{cancel}};
    const auto nodes = end_.of(shared(left), progress);
    if (const auto before = nodes.find("head_dense"); before != nodes.end())
        reading = before_dense(model, std::move(reading), *before->second, *nodes.at("head_act"));
    reading.direction *= model.stages().head_scale();
    LogitDirection out{.head_in = nodes.at(run_.text()->head_input()),
                       .direction = Tensor(Shape{D, 1}),
                       .final_bias = {},
                       .bias = reading.bias};
    Eigen::Map<Eigen::VectorXf>(out.direction.data(), D) = reading.direction.cast<float>();
    const auto norm = model.stages().norm({checkpoint::Stack::own, -1}, TensorId::final_norm);
    if (!norm)
        return out;
    const auto weight = [&](TensorId id) { return checkpoint::edited_end_weight(model, run_.edits(), id); };
    if (const TensorPtr bias = weight(TensorId::final_norm_bias))
        out.final_bias = numbers(*bias, 0, D).dot(reading.direction);
    FrozenNorm(left.values(), *norm, weight(TensorId::final_norm_weight)).turn_back(out.direction);
    return out;
}

TensorPtr LogitDirections::logits(const Tensor& left, const Progress& cancel) {
    Progress progress{Progress::CancelledWith{cancel}};
    return logits_.of(shared(left), progress).at("logits");
}

} // namespace headscope::analysis
