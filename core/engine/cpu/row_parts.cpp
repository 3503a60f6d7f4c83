#include "core/engine/cpu/row_parts.h"

#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/projections.h"

#include <utility>

namespace headscope::cpu {

namespace {

/// The nodes that the scores and the sum of values read: projections, or what norms and rotations make of
/// them, and the terms of the scores.
std::vector<graph::Part> read_by_attention(const AttentionGraph& graph) {
    std::vector<graph::Part> parts;
    for (const TensorId heads : {TensorId::q_heads, TensorId::k_heads, TensorId::v_heads}) {
        const graph::Node& node = graph.graph.node(graph.node(heads));
        parts.push_back({node.op == graph::Op::split_heads ? node.inputs.front().name : node.name});
    }
    for (const TensorId term : {TensorId::c2p, TensorId::p2c})
        if (const graph::NodeId node = graph.node(term); node != AttentionGraph::no_node)
            parts.push_back({graph.graph.node(node).name});
    return parts;
}

} // namespace

StageSet RowParts::stages() {
    using enum TensorId;
    return StageSet()
        .with(scores)
        .with(scaled)
        .with(masked)
        .with(weights)
        .with(weights_mean)
        .with(contributions);
}

RowParts::RowParts(const Problem& problem, std::shared_ptr<CpuMachine> machine, Progress& progress)
    : problem_(problem), machine_(std::move(machine)), graph_([&] {
          validate(problem_);
          return graph_of(structure_of(problem_, MaskRows(problem_.mask, problem_.dims)));
      }()),
      leaves_{.by_node = leaves_of(graph_, problem_, MaskRows(problem_.mask, problem_.dims)),
              .source = nullptr},
      progress_(progress) {
    heads_ = run::run(graph_.graph, leaves_, {.captures = read_by_attention(graph_)}, backend_, progress_);
}

TensorPtr RowParts::make(TensorId stage, const RowPart& part) {
    const bool is_mean = stage == TensorId::weights_mean;
    const TensorId of_heads = is_mean ? TensorId::weights : stage;
    const graph::Part rows{
        std::string(tensor_info(of_heads).name),
        {{"B", {part.b, part.batches}}, {"H", {part.h, part.heads}}, {"Tq", {part.row, part.rows}}}};
    const TensorPtr numbers =
        run::run(graph_.graph, leaves_, {.captures = {rows}, .previous = heads_}, backend_, progress_)
            ->part(rows);
    if (!is_mean)
        return numbers;
    auto mean = std::make_shared<Tensor>(Shape{part.batches, part.rows, numbers->shape()[3]});
    average_heads(*numbers, *mean, *machine_, progress_);
    return mean;
}

} // namespace headscope::cpu
