#include "core/analysis/effects/head_parts.h"

#include "core/base/error.h"
#include "core/tensor/views.h"

#include <array>
#include <memory>

namespace headscope::analysis {

namespace {

using graph::Node;
using graph::Op;
using graph::Range;

/// A part of a node of the graph: ranges of its first axes.
graph::Part part_of(const Node& node, std::initializer_list<std::pair<int, Range>> ranges) {
    graph::Part part{.node = node.name};
    for (const auto& [axis, range] : ranges)
        part.ranges.emplace(node.axes[axis].name, range);
    return part;
}

/// The rows that belong to one of H heads, of an axis with as many for each; all of them without a head.
Range rows_of(std::int64_t rows, std::int64_t H, std::optional<std::int64_t> head) {
    return head ? Range{*head * (rows / H), rows / H} : Range{0, rows};
}

/// The numbers by which a gate multiplies its second input, as its operation states them. open: a part of the
/// first.
TensorPtr factors_of(const Node& gate, const Tensor& open) {
    graph::Axes axes = gate.axes;
    for (int axis = 0; axis < axes.rank(); ++axis)
        axes = axes.with(axis, {axes[axis].name, open.shape()[axis]});
    const std::array in{graph::Operand(axes, open.data()), graph::Operand(axes)};
    const graph::Call call{gate.attributes, in, axes};
    auto factors = std::make_shared<Tensor>(open.shape());
    for (std::int64_t n = 0; n < open.count(); ++n) {
        const Index at = open.shape().index(n);
        factors->data()[n] = static_cast<float>(graph::operation(gate.op).coefficient(call, at, 1, at));
    }
    return factors;
}

} // namespace

MixedParts::MixedParts(const graph::Graph& graph, const Node& contributions, Range queries,
                       std::optional<std::int64_t> head) {
    const auto input = [&](const Node& node, std::size_t n) -> const Node& {
        return graph.node(node.inputs[n].node);
    };
    const Node *heads = &input(contributions, 0), *const W_O = &input(contributions, 1),
               *const gains = &input(contributions, 2);
    const std::int64_t H = heads->axes.size(1);
    const Range of_heads = rows_of(H, H, head);
    if (heads->op == Op::gate &&
        graph.operation(contributions.inputs[0].node).is_linear_in({heads->attributes, {}, heads->axes}, 1)) {
        gate_ = heads;
        open_ = part_of(input(*heads, 0), {{1, of_heads}, {2, queries}});
        heads = &input(*heads, 1);
    }
    if (heads->op != Op::value_sum)
        throw Error(ErrorKind::internal, heads->name + " is not a sum of values, so it cannot be split");
    const Node &weights = input(*heads, 0), &values = input(*heads, 1);
    weights_ = part_of(weights, {{1, of_heads}, {2, queries}});
    const std::int64_t Hkv = values.axes.size(1);
    values_ = part_of(values, {{1, head ? Range{graph::shared_head(*head, H, Hkv), 1} : Range{0, Hkv}}});
    W_O_ = part_of(*W_O, {{0, rows_of(W_O->axes.size(0), H, head)}});
    gains_ = part_of(*gains, {{0, of_heads}});
}

void MixedParts::add_to(std::vector<graph::Part>& captures) const {
    captures.insert(captures.end(), {weights_, values_, W_O_, gains_});
    if (gate_ != nullptr)
        captures.push_back(open_);
}

MixedValues MixedParts::of(const run::Run& run) const {
    return {.weights = run.part(weights_),
            .values = run.part(values_),
            .gates = gate_ == nullptr ? nullptr : factors_of(*gate_, *run.part(open_)),
            .W_O = run.part(W_O_),
            .gains = run.part(gains_)};
}

Tensor parts_by_source(const MixedValues& mixed, std::int64_t head, const Tensor& directions) {
    const Shape &weights = mixed.weights->shape(), &values = mixed.values->shape();
    const std::int64_t n = weights[2], Tk = weights[3], dv = values[3], D = directions.shape()[1];
    // The change along each direction per unit of each number of the head.
    RowMatrix along = ConstRows(directions.data(), n, D) *
                      ConstRows(mixed.W_O->data() + mixed.W_O->offset(head * dv, 0), dv, D).transpose();
    if (mixed.gates != nullptr)
        along.array() *= ConstRows(mixed.gates->data() + mixed.gates->offset(0, head, 0, 0), n, dv).array();
    const std::int64_t read = graph::shared_head(head, weights[1], values[1]);
    Tensor out(Shape{n, Tk});
    MutableRows(out.data(), n, Tk) =
        mixed.gains->data()[head] *
        (along * ConstRows(mixed.values->data() + mixed.values->offset(0, read, 0, 0), Tk, dv).transpose())
            .cwiseProduct(ConstRows(mixed.weights->data() + mixed.weights->offset(0, head, 0, 0), n, Tk));
    return out;
}

} // namespace headscope::analysis
