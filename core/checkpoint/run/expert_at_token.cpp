#include "core/checkpoint/run/expert_at_token.h"

#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/graph/weight_source.h"
#include "core/checkpoint/graph/workshop.h"
#include "core/graph/builder.h"
#include "core/graph/labels.h"
#include "core/graph/ops/mlp/functions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;

/// The fraction of an expert at a token, also where the token does not use it.
float fraction_of(const RunPart& part, std::int64_t expert, std::int64_t token) {
    if (const float used = part.find(TensorId::routing)->at(0, token, expert); used > 0)
        return used;
    const graph::Node& routing = part.graph().node(part.node(TensorId::routing));
    const Tensor& scores = *part.numbers(routing.inputs.front().node);
    return static_cast<float>(
        graph::ops::apply(graph::Function::sigmoid, static_cast<double>(scores.at(0, token, expert))));
}

/// Builds one expert of a layer as a graph of its own.
class ExpertBuilder {
public:
    ExpertBuilder(const WeightSet& weights, std::int64_t expert) : weights_(weights), expert_(expert) {}

    graph::Value input(const TensorPtr& row) {
        leaves_[std::string(labels::x.name)] = row;
        return g_.input(labels::x, {{"B", 1}, {"Tq", 1}, {"D", row->shape()[2]}});
    }
    graph::Value linear(const graph::Label& label, const graph::Value& x, TensorId W, TensorId b) {
        return g_.linear(label, x, *parameter(W), parameter(b));
    }
    /// Computes the graph with `act` as its last node. All nodes are captured.
    run::RunPtr run(const graph::Value& gate, const graph::Value& in, graph::Gate how,
                    const Progress& cancel) {
        g_.gate(labels::expert_act, gate, in, how);
        const graph::Graph graph = g_.finish();
        std::vector<graph::Part> captures;
        for (const graph::Label& label : {labels::expert_gate, labels::expert_in, labels::expert_act})
            captures.push_back({std::string(label.name)});
        Workshop workshop;
        Progress progress{Progress::CancelledWith{cancel}};
        return run::run(graph, run::Leaves::of(graph, leaves_), {.captures = std::move(captures)},
                        workshop.backend, progress);
    }

private:
    graph::OptionalValue parameter(TensorId weight) {
        TensorPtr numbers = weights_.row(weight, expert_);
        if (numbers == nullptr)
            return std::nullopt;
        const graph::Label label = label_of(weight);
        const Shape& shape = numbers->shape();
        graph::Axes axes = shape.rank() == 1 ? graph::Axes{{"d_ff", shape[0]}}
                                             : graph::Axes{{"D", shape[0]}, {"d_ff", shape[1]}};
        leaves_[std::string(label.name)] = std::move(numbers);
        return g_.parameter(label, std::move(axes));
    }

    graph::Builder g_;
    graph::Leaves leaves_;
    const WeightSet& weights_;
    std::int64_t expert_;
};

std::vector<float> numbers_of(const run::Run& run, const graph::Label& label) {
    const std::span<const float> numbers = run[label.name]->values();
    return {numbers.begin(), numbers.end()};
}

} // namespace

ExpertAtToken expert_at_token(const RunPart& part, std::int64_t expert, std::int64_t token,
                              const Progress& cancel) {
    ExpertAtToken out{.place = part.place,
                      .expert = expert,
                      .token = token,
                      .reads = part.stages().sources(part.place, TensorId::routing).front(),
                      .gate = {},
                      .in = {},
                      .act = {},
                      .adds = {}};
    const Tensor& stage = *part.find(out.reads);
    const std::int64_t D = stage.shape()[2];
    const auto row =
        std::make_shared<Tensor>(Shape{1, 1, D}, stage.values().subspan(static_cast<std::size_t>(token * D),
                                                                        static_cast<std::size_t>(D)));
    if (part.stages().scales_expert_input(part.place)) {
        out.input_scale = fraction_of(part, expert, token);
        for (float& number : row->values())
            number *= out.input_scale;
    }
    ExpertBuilder builder(part.weights, expert);
    const graph::Value x = builder.input(row),
                       gate = builder.linear(labels::expert_gate, x, TensorId::expert_W_gate,
                                             TensorId::expert_b_gate),
                       in =
                           builder.linear(labels::expert_in, x, TensorId::expert_W_in, TensorId::expert_b_in);
    const run::RunPtr run = builder.run(gate, in, part.stages().expert_gate(part.place), cancel);
    out.gate = numbers_of(*run, labels::expert_gate);
    out.in = numbers_of(*run, labels::expert_in);
    out.act = numbers_of(*run, labels::expert_act);
    out.adds = row_lengths(*part.weights.row(TensorId::expert_W_out, expert));
    std::ranges::transform(out.adds, out.act, out.adds.begin(),
                           [](float length, float act) { return length * std::abs(act); });
    return out;
}

} // namespace headscope::checkpoint
