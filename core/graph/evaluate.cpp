#include "core/graph/evaluate.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::graph {

namespace {

/// A captured part of a node.
struct WantedPart {
    NodeId node;
    Box box;
};

Array cut(const Box& box, const Axes& axes, const std::vector<double>& values) {
    std::vector<Axis> smaller;
    for (int axis = 0; axis < axes.rank(); ++axis) {
        smaller.push_back(axes[axis]);
        smaller.back().size = box.count[static_cast<std::size_t>(axis)];
    }
    Array numbers{.axes = Axes(std::move(smaller)), .values = {}};
    if (numbers.axes == axes) {
        numbers.values = values;
        return numbers;
    }
    for_each_cell(axes.shape(), box, [&](std::int64_t from, std::int64_t) {
        numbers.values.push_back(values[static_cast<std::size_t>(from)]);
    });
    return numbers;
}

std::vector<double> leaf_numbers(const Node& node, const LeafSource& leaves) {
    const auto* constant = std::get_if<Constant>(&node.attributes);
    const TensorPtr tensor = constant != nullptr ? constant->values : leaves(node);
    if (tensor == nullptr)
        fail_input(tr("graph.no_numbers", "{} has no numbers; give a tensor with the axes {}", node.name,
                      node.axes.text()));
    if (!(tensor->shape() == node.axes.shape()))
        fail_input(tr("graph.leaf_shape", "{} has shape {}; it should have the axes {}", node.name,
                      tensor->shape().text(), node.axes.text()));
    return {tensor->values().begin(), tensor->values().end()};
}

/// For each node the number of readers that are computed; for nodes that are not, -1.
std::vector<int> readers_left(const Graph& graph, const std::vector<WantedPart>& wanted) {
    std::vector<int> readers(graph.nodes().size(), -1);
    for (const WantedPart& part : wanted)
        readers[static_cast<std::size_t>(part.node)] = 0;
    for (auto id = std::ssize(graph.nodes()) - 1; id >= 0; --id)
        if (readers[static_cast<std::size_t>(id)] >= 0)
            for (const Reading& input : graph.node(static_cast<NodeId>(id)).inputs) {
                int& count = readers[static_cast<std::size_t>(input.node)];
                count = std::max(count, 0) + 1;
            }
    return readers;
}

} // namespace

TensorPtr Array::rounded() const {
    auto tensor = std::make_shared<Tensor>(axes.shape());
    std::ranges::transform(values, tensor->data(), [](double value) { return static_cast<float>(value); });
    return tensor;
}

bool Evaluation::has(std::string_view node) const {
    const std::optional<NodeId> id = graph_.try_find(node);
    return id && captured_.contains(*id);
}

const Array& Evaluation::operator[](std::string_view node) const {
    const auto found = captured_.find(graph_.find(node));
    if (found == captured_.end())
        fail_input(tr("graph.not_captured", "{} was not captured; add it to the captures of the run", node));
    return found->second;
}

std::vector<Operand> Evaluation::operands(NodeId id) const {
    std::vector<Operand> operands;
    for (const Reading& input : graph_.node(id).inputs) {
        const Node& from = graph_.node(input.node);
        const Array& numbers = (*this)[from.name];
        if (!(numbers.axes == from.axes))
            fail_input(tr("graph.not_captured", "{} was not captured; add it to the captures of the run",
                          from.name));
        operands.emplace_back(from.axes, numbers.values.data());
    }
    return operands;
}

Arithmetic Evaluation::explain(std::string_view node, const Index& at) const {
    const NodeId id = graph_.find(node);
    const std::vector<Operand> in = operands(id);
    return graph_.operation(id).explain({graph_.node(id).attributes, in, graph_.node(id).axes}, at);
}

std::vector<ReadSpan> Evaluation::reads(std::string_view node, const Index& at) const {
    const NodeId id = graph_.find(node);
    const std::vector<Operand> in = operands(id);
    return graph_.operation(id).reads({graph_.node(id).attributes, in, graph_.node(id).axes}, at);
}

Evaluation evaluate(const Graph& graph, const LeafSource& leaves, const std::vector<Part>& captures) {
    std::vector<WantedPart> wanted;
    for (const Part& part : captures)
        wanted.push_back({graph.find(part.node), box_of(graph[part.node], part)});
    std::vector<int> readers = readers_left(graph, wanted);
    std::vector<std::vector<double>> values(graph.nodes().size());
    Evaluation evaluation(graph);
    for (NodeId id = 0; id < static_cast<NodeId>(std::ssize(graph.nodes())); ++id) {
        const auto at = static_cast<std::size_t>(id);
        const Node& node = graph.node(id);
        if (readers[at] < 0)
            continue;
        if (is_leaf(node.op)) {
            values[at] = leaf_numbers(node, leaves);
        } else {
            std::vector<Operand> in;
            for (const Reading& input : node.inputs)
                in.emplace_back(graph.node(input.node).axes,
                                values[static_cast<std::size_t>(input.node)].data());
            values[at].resize(static_cast<std::size_t>(node.axes.count()));
            graph.operation(id).all({node.attributes, in, node.axes}, values[at]);
        }
        for (const WantedPart& part : wanted)
            if (part.node == id)
                evaluation.captured_.try_emplace(id, cut(part.box, node.axes, values[at]));
        const auto release_if_unread = [&](std::size_t read) {
            if (readers[read] == 0)
                std::vector<double>().swap(values[read]);
        };
        for (const Reading& input : node.inputs) {
            --readers[static_cast<std::size_t>(input.node)];
            release_if_unread(static_cast<std::size_t>(input.node));
        }
        release_if_unread(at);
    }
    return evaluation;
}

Evaluation evaluate(const Graph& graph, const Leaves& leaves, const std::vector<Part>& captures) {
    return evaluate(
        graph,
        [&](const Node& node) {
            const auto found = leaves.find(node.name);
            return found == leaves.end() ? nullptr : found->second;
        },
        captures);
}

Evaluation evaluate_all(const Graph& graph, const LeafSource& leaves) {
    std::vector<Part> captures;
    for (const Node& node : graph.nodes())
        captures.push_back({node.name});
    return evaluate(graph, leaves, captures);
}

} // namespace headscope::graph
