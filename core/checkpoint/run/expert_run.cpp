#include "core/checkpoint/run/expert_run.h"

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

    graph::Value input(const TensorPtr& rows) {
        leaves_[std::string(labels::x.name)] = rows;
        return g_.input(labels::x, {{"B", 1}, {"Tq", rows->shape()[1]}, {"D", rows->shape()[2]}});
    }
    graph::Value linear(const graph::Label& label, const graph::Value& x, TensorId W, TensorId b) {
        return g_.linear(label, x, *parameter(W), parameter(b));
    }
    graph::Value act(const graph::Value& gate, const graph::Value& in, graph::Gate how) {
        return g_.gate(labels::expert_act, gate, in, how);
    }
    /// Computes the graph. All nodes are captured.
    run::RunPtr run(const Progress& cancel) {
        const graph::Graph graph = g_.finish();
        std::vector<graph::Part> captures;
        for (const graph::Label& label :
             {labels::expert_gate, labels::expert_in, labels::expert_act, labels::mlp_experts})
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
        const bool is_last = weight == TensorId::expert_W_out || weight == TensorId::expert_b_out;
        const char *const from = is_last ? "d_ff" : "D", *const to = is_last ? "D" : "d_ff";
        graph::Axes axes =
            shape.rank() == 1 ? graph::Axes{{to, shape[0]}} : graph::Axes{{from, shape[0]}, {to, shape[1]}};
        leaves_[std::string(label.name)] = std::move(numbers);
        return g_.parameter(label, std::move(axes));
    }

    graph::Builder g_;
    graph::Leaves leaves_;
    const WeightSet& weights_;
    std::int64_t expert_;
};

/// The tokens that use an expert, and `token`.
std::vector<std::int64_t> tokens_of(const Tensor& routing, std::int64_t expert, std::int64_t token) {
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < routing.shape()[1]; ++i)
        if (i == token || routing.at(0, i, expert) != 0)
            tokens.push_back(i);
    return tokens;
}

} // namespace

std::size_t ExpertRun::row() const {
    return static_cast<std::size_t>(std::ranges::lower_bound(tokens, token) - tokens.begin());
}

float ExpertRun::at(const TensorPtr& numbers, std::size_t unit) const {
    return numbers->at(0, static_cast<std::int64_t>(row()), static_cast<std::int64_t>(unit));
}

ExpertRun run_expert(const RunPart& part, std::int64_t expert, std::int64_t token, const Progress& cancel) {
    ExpertRun out{.place = part.place,
                  .expert = expert,
                  .token = token,
                  .reads = part.stages().sources(part.place, TensorId::routing).front(),
                  .tokens = tokens_of(*part.find(TensorId::routing), expert, token)};
    const Tensor& stage = *part.find(out.reads);
    const std::int64_t D = stage.shape()[2];
    const auto rows = std::make_shared<Tensor>(Shape{1, std::ssize(out.tokens), D});
    const bool scales = part.stages().scales_expert_input(part.place);
    float* to = rows->data();
    for (const std::int64_t i : out.tokens) {
        out.input_scales.push_back(scales ? fraction_of(part, expert, i) : 1.0F);
        to = std::transform(stage.data() + i * D, stage.data() + (i + 1) * D, to,
                            [scale = out.input_scales.back()](float number) { return scale * number; });
    }
    ExpertBuilder builder(part.weights, expert);
    const graph::Value x = builder.input(rows),
                       gate = builder.linear(labels::expert_gate, x, TensorId::expert_W_gate,
                                             TensorId::expert_b_gate),
                       in =
                           builder.linear(labels::expert_in, x, TensorId::expert_W_in, TensorId::expert_b_in),
                       act = builder.act(gate, in, part.stages().expert_gate(part.place));
    builder.linear(labels::mlp_experts, act, TensorId::expert_W_out, TensorId::expert_b_out);
    const run::RunPtr run = builder.run(cancel);
    out.gate = (*run)[labels::expert_gate.name];
    out.in = (*run)[labels::expert_in.name];
    out.act = (*run)[labels::expert_act.name];
    out.out = (*run)[labels::mlp_experts.name];
    out.adds = row_lengths(*part.weights.row(TensorId::expert_W_out, expert));
    for (std::size_t unit = 0; unit < out.adds.size(); ++unit)
        out.adds[unit] *= std::abs(out.at(out.act, unit));
    return out;
}

} // namespace headscope::checkpoint
