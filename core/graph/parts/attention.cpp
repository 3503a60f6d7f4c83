#include "core/graph/parts/attention.h"

#include "core/base/error.h"
#include "core/graph/labels.h"

namespace headscope::graph {

namespace {

/// From a projection to the rows of its heads: norm, then rotation or the scale of each token; or only the
/// split.
Value rows_of_heads(Builder& g, const Attention& a, const Value& projected, const OptionalValue& norm,
                    const OptionalValue& scale, const Label& normed, const Label& heads) {
    Value rows = projected;
    if (norm)
        rows = g.make(normed, a.joint_norm ? Op::joint_norm : Op::head_norm, a.norm, {rows, *norm});
    if (a.rotary)
        return g.make(heads, Op::rotate, a.rotary->rotation, {rows, a.rotary->cos, a.rotary->sin});
    if (scale)
        return g.make(heads, Op::token_scale, {}, {rows, *scale});
    return g.make(heads, Op::split_heads, {}, {rows});
}

} // namespace

HeadValues project_heads(Builder& g, const Attention& a) {
    if (a.rotary && a.query_scale)
        throw Error(ErrorKind::internal, "queries are rotated and scaled by their positions");
    const Value& source = a.x_kv ? *a.x_kv : a.x;
    const Linear queries{.limit = a.qkv_limit, .paper_symbols = true};
    Linear keys = queries;
    keys.tokens = "Tk";
    const Value q = g.linear(labels::q, a.x, a.W_Q, a.b_Q, queries);
    const Value k = g.linear(labels::k, source, a.W_K, a.b_K, keys);
    Value v = g.linear(labels::v, source, a.W_V, a.b_V, keys);
    if (a.v_norm)
        v = g.make(labels::v_normed, Op::head_norm, Norm{.eps = a.norm.eps}, {v, *a.v_norm});
    return {.q = rows_of_heads(g, a, q, a.q_norm, a.query_scale, labels::q_normed, labels::q_heads),
            .k = rows_of_heads(g, a, k, a.k_norm, {}, labels::k_normed, labels::k_heads),
            .v = g.make(labels::v_heads, Op::split_heads, {}, {v})};
}

Value score(Builder& g, const Attention& a, const HeadValues& heads) {
    std::vector<Value> inputs{heads.q, heads.k};
    if (const std::optional<RelativePositions>& of = a.relative) {
        const auto add_term = [&](const Label& label, const Value& vectors, const Value& positions,
                                  bool of_keys) {
            inputs.push_back(g.make(label, Op::relative_product,
                                    RelativeProduct{.of_keys = of_keys, .rows = of->rows},
                                    {vectors, positions}));
        };
        const Linear paper{.paper_symbols = true};
        if (of->c2p)
            add_term(labels::c2p, heads.q,
                     of->W_K ? g.linear(labels::pos_keys, of->table, *of->W_K, of->b_K, paper)
                             : g.linear(labels::pos_keys, of->table, a.W_K, a.b_K, paper),
                     false);
        if (of->p2c)
            add_term(labels::p2c, heads.k,
                     of->W_Q ? g.linear(labels::pos_queries, of->table, *of->W_Q, of->b_Q, paper)
                             : g.linear(labels::pos_queries, of->table, a.W_Q, a.b_Q, paper),
                     true);
    }
    return g.make(labels::scores, Op::dot_product, {}, std::move(inputs));
}

Value attend(Builder& g, const Attention& a, const HeadValues& heads) {
    const Value scores = score(g, a, heads);
    const Value scaled =
        g.scale(labels::scaled, scores, {.root_of = a.dims.dk, .factor = a.score_factor, .cap = a.score_cap},
                a.temperature);
    Mask mask = a.mask;
    std::vector<Value> masked_inputs{scaled};
    if ((mask.adds = a.added.has_value()))
        masked_inputs.push_back(a.added->as(labels::mask));
    if ((mask.allows = a.allowed.has_value()))
        masked_inputs.push_back(*a.allowed);
    const bool excludes = mask.limits_positions() || masked_inputs.size() > 1;
    const Value masked = g.make(labels::masked, Op::mask, mask, std::move(masked_inputs));
    const Value weights = g.softmax(labels::weights, masked, a.sink, excludes);
    g.make(labels::weights_mean, Op::mean, {}, {weights});
    const Value head_out = g.make(labels::head_out, Op::value_sum, {}, {weights, heads.v});
    if (!a.W_G)
        return head_out;
    const Value columns = g.linear(labels::gate_columns, a.x, *a.W_G, a.b_G, {.paper_symbols = true});
    const Value gate = g.make(labels::gate, Op::split_heads, {}, {columns});
    return g.gate(labels::head_out_gated, gate, head_out, {.function = Function::sigmoid});
}

Value join(Builder& g, const Attention& a, const Value& head_out) {
    std::vector<Value> joined{head_out}, projected{head_out, a.W_O};
    if (a.gain) {
        joined.push_back(*a.gain);
        projected.push_back(*a.gain);
    }
    const Value concat = g.make(labels::concat, Op::join_heads, {}, std::move(joined));
    g.make(labels::contributions, Op::head_projection, {}, std::move(projected));
    return g.linear(labels::output, concat, a.W_O, a.b_O);
}

Value attention(Builder& g, const Attention& a) {
    return join(g, a, attend(g, a, project_heads(g, a)));
}

} // namespace headscope::graph
