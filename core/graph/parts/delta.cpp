#include "core/graph/parts/delta.h"

#include "core/graph/labels.h"

#include <cmath>

namespace headscope::graph {

namespace {

/// A node that no table of the program lists.
constexpr Label inner(std::string_view name, Step step) {
    return {name, untranslated(name), name, step};
}

} // namespace

Value delta_layer(Builder& g, const Delta& d) {
    constexpr double unit_eps = 1e-6; // below the lengths of queries and keys
    const Value x = d.token_valid ? g.multiply(labels::delta_x, d.x, *d.token_valid) : d.x;
    const auto convolved = [&](const Value& W, const Value& conv, const Label& projected, const Label& mixed,
                               const Label& activated) {
        const Value mix = g.make(mixed, Op::causal_conv, {}, {g.linear(projected, x, W), conv});
        return g.activation(activated, mix, Function::silu);
    };
    constexpr Step qkv = Step::delta_qkv;
    const Value q = convolved(d.W_q, d.conv_q, inner("delta.q_in", qkv), inner("delta.q_conv", qkv),
                              inner("delta.q_act", qkv));
    const Value k = convolved(d.W_k, d.conv_k, inner("delta.k_in", qkv), inner("delta.k_conv", qkv),
                              inner("delta.k_act", qkv));
    // A row over its length is its RMSNorm over √dk.
    const std::int64_t dk = q.axes()[2].inner;
    const auto width = static_cast<double>(dk);
    const Value unit =
        g.constant({"delta.unit", untranslated("1/√dk"), "1/√dk", qkv}, {q.axes()[2].inner_axis()},
                   make_tensor(Shape{dk}, std::vector<float>(static_cast<std::size_t>(dk),
                                                             static_cast<float>(1.0 / std::sqrt(width)))));
    const Norm length{.eps = unit_eps / width};
    const auto of_length_1 = [&](const Label& normed, const Label& joined, const Value& rows) {
        return g.make(joined, Op::join_heads, {}, {g.make(normed, Op::head_norm, length, {rows, unit})});
    };
    const Value queries = of_length_1(inner("delta.q_heads", qkv), labels::delta_q, q);
    const Value keys = of_length_1(inner("delta.k_heads", qkv), labels::delta_k, k);
    const Value v =
        convolved(d.W_v, d.conv_v, inner("delta.v_in", qkv), inner("delta.v_conv", qkv), labels::delta_v);
    const Value a = g.linear(inner("delta.a", Step::delta_state), x, d.W_a, d.dt_bias);
    const Value decay = g.make(labels::delta_decay, Op::decay, {}, {a, d.A_log});
    const Value beta = g.activation(
        labels::delta_beta, g.linear(inner("delta.b", Step::delta_state), x, d.W_b), Function::sigmoid);
    const Value y = g.make(labels::delta_y, Op::delta_rule, {}, {queries, keys, v, decay, beta});
    constexpr Step out = Step::delta_out;
    const Value heads = g.make(labels::delta_heads, Op::head_norm, Norm{.eps = d.eps}, {y, d.norm});
    const Value normed = g.make(inner("delta.y_normed", out), Op::join_heads, {}, {heads});
    const Value z = g.linear(labels::delta_z, x, d.W_z);
    const Value gated = g.gate(inner("delta.y_gated", out), z, normed, {.function = Function::silu});
    return g.linear(labels::delta_out, gated, d.W_out);
}

} // namespace headscope::graph
