#include "core/graph/builder.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::graph {

namespace {

void add_if(std::vector<Value>& inputs, const OptionalValue& value) {
    if (value)
        inputs.push_back(*value);
}

} // namespace

Value Value::as(const Label& label) const {
    Value value = *this;
    value.reading_.name = label.name;
    value.reading_.symbol = label.symbol;
    return value;
}

Builder::Builder() : data_(std::make_shared<Graph::Data>()) {}

Builder Builder::layer(Stack stack, std::int64_t layer, std::string_view prefix) const {
    Builder inside = around(stack, prefix);
    inside.prefix_ += "layers." + std::to_string(layer) + ".";
    inside.location_.layer = layer;
    return inside;
}

Builder Builder::around(Stack stack, std::string_view prefix) const {
    Builder outside = *this;
    outside.prefix_ = prefix;
    outside.location_ = {.stack = stack};
    return outside;
}

void Builder::claim(const std::string& name, NodeId node) {
    if (!data_->by_name.emplace(name, node).second)
        fail_input(
            tr("graph.name_twice", "the graph has two nodes named {}; give one of them another name", name));
}

Value Builder::make(const Label& label, Op op, Attributes attributes, std::vector<Value> inputs) {
    Node node{.name = full_name(label.name),
              .prefix = prefix_.size(),
              .title = label.title,
              .symbol = std::string(label.symbol),
              .op = op,
              .attributes = std::move(attributes),
              .inputs = {},
              .axes = {},
              .location = location_};
    node.location.step = label.step;
    std::vector<Operand> operands;
    for (const Value& input : inputs) {
        node.inputs.push_back(input.reading_);
        operands.emplace_back(data_->nodes[static_cast<std::size_t>(input.node())].axes);
    }
    try {
        node.axes = operation(op).axes({node.attributes, operands, node.axes});
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input)
            throw;
        fail_input(node.name + " = " + std::string(operation(op).name()) + "(" +
                   joined(node.inputs, &Reading::name) + "): " + error.what());
    }
    const auto id = static_cast<NodeId>(data_->nodes.size());
    claim(node.name, id);
    Value value({id, std::string(label.name), std::string(label.symbol)}, node.axes);
    data_->nodes.push_back(std::move(node));
    return value;
}

Value Builder::leaf(const Label& label, Op op, Axes axes, Attributes attributes) {
    Value value = make(label, op, std::move(attributes), {});
    data_->nodes.back().axes = axes;
    value.axes_ = std::move(axes);
    return value;
}

Value Builder::parameter(const Label& label, Axes axes, Parameter source) {
    return leaf(label, Op::parameter, std::move(axes), std::move(source));
}

Value Builder::input(const Label& label, Axes axes, Input::Kind kind) {
    return leaf(label, Op::input, std::move(axes), Input{kind});
}

Value Builder::constant(const Label& label, Axes axes, TensorPtr values) {
    if (values == nullptr || !(values->shape() == axes.shape()))
        throw Error(ErrorKind::internal, "the constant " + prefix_ + std::string(label.name) + " has shape " +
                                             (values == nullptr ? "()" : values->shape().text()) +
                                             "; its axes are " + axes.text());
    return leaf(label, Op::constant, std::move(axes), Constant{std::move(values)});
}

Value Builder::embedding(const Label& label, const Value& ids, const Value& table, double factor) {
    return make(label, Op::embedding, Embedding{factor}, {ids, table});
}

Value Builder::linear(const Label& label, const Value& x, const Value& weight, const OptionalValue& bias,
                      Linear attributes) {
    std::vector<Value> inputs{x, weight};
    add_if(inputs, bias);
    return make(label, Op::linear, std::move(attributes), std::move(inputs));
}

Value Builder::add(const Label& label, std::initializer_list<Value> terms) {
    return make(label, Op::add, {}, terms);
}

Value Builder::multiply(const Label& label, const Value& a, const Value& b) {
    return make(label, Op::multiply, {}, {a, b});
}

Value Builder::scale(const Label& label, const Value& x, Scale attributes, const OptionalValue& temperature) {
    std::vector<Value> inputs{x};
    add_if(inputs, temperature);
    return make(label, attributes.cap > 0 ? Op::soft_cap : Op::scale, attributes, std::move(inputs));
}

Value Builder::rms_norm(const Label& label, const Value& x, const OptionalValue& weight, double eps) {
    std::vector<Value> inputs{x};
    add_if(inputs, weight);
    return make(label, Op::rms_norm, Norm{.eps = eps}, std::move(inputs));
}

Value Builder::layer_norm(const Label& label, const Value& x, const OptionalValue& weight,
                          const OptionalValue& bias, double eps) {
    std::vector<Value> inputs{x};
    add_if(inputs, weight);
    add_if(inputs, bias);
    return make(label, Op::layer_norm, Norm{.eps = eps}, std::move(inputs));
}

Value Builder::slice(const Label& label, const Value& x, Slice attributes) {
    return make(label, Op::slice, std::move(attributes), {x});
}

Value Builder::concat(const Label& label, std::initializer_list<Value> parts, std::string axis) {
    return make(label, Op::concat, Concat{std::move(axis)}, parts);
}

Value Builder::activation(const Label& label, const Value& x, Function function) {
    return make(label, Op::activation, Activation{function}, {x});
}

Value Builder::gate(const Label& label, const Value& gate, const Value& in, Gate attributes) {
    return make(label, Op::gate, attributes, {gate, in});
}

Value Builder::softmax(const Label& label, const Value& x, const OptionalValue& sink, bool empty_rows) {
    std::vector<Value> inputs{x};
    add_if(inputs, sink);
    return make(label, Op::softmax, Softmax{.empty_rows = empty_rows, .sink = sink.has_value()},
                std::move(inputs));
}

Value Builder::existing(const Label& label, std::string_view full_name) const {
    const NodeId id = data_->by_name.find(full_name)->second;
    return {{id, std::string(label.name), std::string(label.symbol)},
            data_->nodes[static_cast<std::size_t>(id)].axes};
}

Value Builder::alias(const Label& label, const Value& value) {
    const std::string name = full_name(label.name);
    claim(name, value.node());
    data_->aliases.push_back({name, value.node()});
    return value.as(label);
}

Value Builder::with_role(const Value& value, Role role) {
    data_->nodes[static_cast<std::size_t>(value.node())].role = role;
    return value;
}

Graph Builder::finish() {
    // Until a second term is added, the first one is the residual stream.
    const auto is_residual = [&](const Reading& input) {
        const Role role = data_->nodes[static_cast<std::size_t>(input.node)].role;
        return role == Role::stream || role == Role::adds;
    };
    for (Node& node : data_->nodes)
        if (node.role == Role::none && std::ranges::any_of(node.inputs, is_residual))
            node.role = Role::reads;
    data_->readers.resize(data_->nodes.size());
    for (std::size_t id = 0; id < data_->nodes.size(); ++id)
        for (const Reading& input : data_->nodes[id].inputs) {
            std::vector<NodeId>& readers = data_->readers[static_cast<std::size_t>(input.node)];
            if (readers.empty() || readers.back() != static_cast<NodeId>(id))
                readers.push_back(static_cast<NodeId>(id));
        }
    return Graph(std::exchange(data_, nullptr));
}

} // namespace headscope::graph
