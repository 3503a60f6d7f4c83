#include "core/graph/parts/mlp.h"

#include "core/graph/labels.h"

namespace headscope::graph {

Value mlp(Builder& g, const Label& label, const Value& x, const Mlp& parts) {
    const Value in = g.linear(labels::mlp_pre, x, parts.W_in, parts.b_in);
    if (!parts.W_gate)
        return g.linear(label, g.activation(labels::mlp_act, in, parts.function), parts.W_out, parts.b_out);
    Value gate = g.linear(labels::mlp_gate, x, *parts.W_gate, parts.b_gate);
    if (parts.sparse_gate)
        gate = g.make(labels::mlp_sparse, Op::gaussian_top_k, *parts.sparse_gate, {gate});
    const Value act = g.gate(labels::mlp_act, gate, in, {.function = parts.function});
    return g.linear(label, act, parts.W_out, parts.b_out);
}

Value mixture(Builder& g, const Label& label, const Value& x, const Mixture& parts) {
    const Value numbers = g.linear(labels::router, x, parts.W_router, parts.b_router);
    std::vector<Value> routed{numbers};
    if (parts.choice_bias)
        routed.push_back(*parts.choice_bias);
    const Value fractions = g.make(labels::routing, Op::route, parts.route, std::move(routed));
    const auto of_experts = [&](const Label& each, const Value& W, const OptionalValue& b) {
        std::vector<Value> inputs{x, W};
        if (parts.experts.scaled_input)
            inputs.push_back(fractions);
        if (b)
            inputs.push_back(*b);
        return g.make(each, Op::expert_linear, parts.experts, std::move(inputs));
    };
    const Value gate = of_experts(labels::expert_gate, parts.W_gate, parts.b_gate);
    const Value in = of_experts(labels::expert_in, parts.W_in, parts.b_in);
    const Value act = g.gate(labels::expert_act, gate, in, parts.gate);
    std::vector<Value> summed{fractions, act, parts.W_out};
    if (parts.b_out)
        summed.push_back(*parts.b_out);
    return g.make(label, Op::expert_sum, parts.experts, std::move(summed));
}

} // namespace headscope::graph
