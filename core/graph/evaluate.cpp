#include "core/graph/evaluate.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::graph {

namespace {

/// A part of a node, by index instead of name.
struct WantedPart {
    NodeId node;
    Index first{}, count{};
};

WantedPart wanted_part(const Graph& graph, const Part& part) {
    const NodeId id = graph.find(part.node);
    const Axes& axes = graph.node(id).axes;
    WantedPart wanted{.node = id};
    for (int axis = 0; axis < axes.rank(); ++axis)
        wanted.count[static_cast<std::size_t>(axis)] = axes.size(axis);
    for (const auto& [name, range] : part.ranges) {
        const std::optional<int> axis = axes.find(name);
        if (!axis)
            fail_input(tr("graph.no_axis", "{} has no axis {}; it has {}", part.node, name, axes.names()));
        const std::int64_t size = axes.size(*axis);
        const std::int64_t count = range.count < 0 ? size - range.first : range.count;
        if (range.first < 0 || count < 1 || range.first + count > size)
            fail_input(tr("graph.outside_axis", "{} has {} entries along {}, and {} to {} are not among them",
                          part.node, size, name, range.first, range.first + count - 1));
        wanted.first[static_cast<std::size_t>(*axis)] = range.first;
        wanted.count[static_cast<std::size_t>(*axis)] = count;
    }
    return wanted;
}

Array cut(const WantedPart& part, const Axes& axes, const std::vector<double>& values) {
    std::vector<Axis> smaller;
    for (int axis = 0; axis < axes.rank(); ++axis) {
        smaller.push_back(axes[axis]);
        smaller.back().size = part.count[static_cast<std::size_t>(axis)];
    }
    Array numbers{.axes = Axes(std::move(smaller)), .values = {}};
    if (numbers.axes == axes) {
        numbers.values = values;
        return numbers;
    }
    const Shape from = axes.shape(), to = numbers.axes.shape();
    for (std::int64_t offset = 0; offset < to.count(); ++offset) {
        Index at = to.index(offset);
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            at[axis] += part.first[axis];
        numbers.values.push_back(values[static_cast<std::size_t>(from.offset(at))]);
    }
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

bool is_leaf(Op op) {
    return op == Op::parameter || op == Op::input || op == Op::constant;
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
        wanted.push_back(wanted_part(graph, part));
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
                evaluation.captured_.try_emplace(id, cut(part, node.axes, values[at]));
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
