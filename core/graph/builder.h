#pragma once

#include "core/graph/graph.h"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::graph {

/// A node while its graph is built, with the name under which the next operation reads it.
class Value {
public:
    NodeId node() const { return reading_.node; }
    const Axes& axes() const { return axes_; }
    /// The same node under another name in formulas. Builder::alias also makes the name known to the graph.
    Value as(const Label& label) const;

private:
    friend class Builder;
    Value(Reading reading, Axes axes) : reading_(std::move(reading)), axes_(std::move(axes)) {}
    Reading reading_;
    Axes axes_;
};

/// The values that a model lacks are empty: a projection without a bias, a norm without weights.
using OptionalValue = std::optional<Value>;

/// Builds a graph node by node. Each function adds one node and throws Error(input) with the node's name if
/// its inputs do not fit together or if the name exists. A Builder that lives in a layer (see layer()) gives
/// names of that layer.
class Builder {
public:
    Builder();

    /// The same graph, seen from layer `layer` of a stack: names begin with `prefix` + "layers.<layer>.".
    Builder layer(Stack stack, std::int64_t layer, std::string_view prefix = {}) const;
    /// The same graph, seen from outside the layers of a stack: names begin with `prefix`.
    Builder around(Stack stack, std::string_view prefix = {}) const;

    // Leaves.
    Value parameter(const Label& label, Axes axes, Parameter source = {});
    Value input(const Label& label, Axes axes, Input::Kind kind = Input::Kind::numbers);
    Value constant(const Label& label, Axes axes, TensorPtr values);

    // Operations; see core/graph/ops for what each computes.
    Value embedding(const Label& label, const Value& ids, const Value& table, double factor = 1);
    Value linear(const Label& label, const Value& x, const Value& weight, const OptionalValue& bias = {},
                 Linear attributes = {});
    Value add(const Label& label, std::initializer_list<Value> terms);
    Value multiply(const Label& label, const Value& a, const Value& b);
    /// Scale or, with a cap, soft_cap. `temperature` divides.
    Value scale(const Label& label, const Value& x, Scale attributes, const OptionalValue& temperature = {});
    Value rms_norm(const Label& label, const Value& x, const OptionalValue& weight, double eps);
    Value layer_norm(const Label& label, const Value& x, const OptionalValue& weight,
                     const OptionalValue& bias, double eps);
    Value slice(const Label& label, const Value& x, Slice attributes);
    Value concat(const Label& label, std::initializer_list<Value> parts, std::string axis);
    Value activation(const Label& label, const Value& x, Function function);
    Value gate(const Label& label, const Value& gate, const Value& in, Gate attributes);
    Value softmax(const Label& label, const Value& x, const OptionalValue& sink = {},
                  bool empty_rows = false);
    /// Any operation, with its inputs in order.
    Value make(const Label& label, Op op, Attributes attributes, std::vector<Value> inputs);

    /// A node by its full name or alias, which the graph must have, read as `label`.
    Value existing(const Label& label, std::string_view full_name) const;
    /// Makes `label` another name of a node, in this layer.
    Value alias(const Label& label, const Value& value);
    /// The name that a node with this local name has in the graph.
    std::string full_name(std::string_view local) const { return prefix_ + std::string(local); }
    /// Sets the effect of a node on the residual stream. A node without one that reads the residual stream
    /// gets Role::reads from finish().
    Value with_role(const Value& value, Role role);

    /// The graph. The builder and those made from it must not be used afterwards.
    Graph finish();

private:
    Value leaf(const Label& label, Op op, Axes axes, Attributes attributes);
    void claim(const std::string& name, NodeId node);
    std::shared_ptr<Graph::Data> data_;
    std::string prefix_;
    Location location_;
};

} // namespace headscope::graph
