#include "tests/core/graph/sample_graphs.h"

#include "core/graph/labels.h"
#include "core/graph/parts/attention.h"
#include "core/graph/parts/delta.h"
#include "core/graph/parts/mlp.h"
#include "core/graph/parts/sizes.h"
#include "tests/conformance/generate.h"

#include <map>

namespace headscope::graph {

namespace {

using A = headscope::Axis;

constexpr Dims dims{
    .B = 2, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 4, .Hkv = 2, .dk = 4, .dv = 3, .d_ff = 3, .vocab = 6};

Label label(std::string_view name) {
    return {name, untranslated(name), name, Step::x};
}

struct AttentionVariant {
    std::string name;
    bool bias = true, joint_norm = false, head_norm = false, centered = false, rotary = false, sink = false,
         temperature = false, gain = true, added = false, allowed = false, cross = false, gate = false,
         query_scale = false, c2p = false, p2c = false, own_positions = false, value_norm = false;
    double limit = 0, cap = 0;
    graph::Mask mask = {};
    Rotation rotation = {};
};

Graph attention_graph(const AttentionVariant& variant) {
    Builder g;
    Dims d = dims;
    if (variant.cross) {
        d.Tk = 4;
        d.Dkv = 3;
    }
    const auto input = [&](const Label& of, std::initializer_list<A> axes) {
        return g.input(of, axes_of(axes, d));
    };
    const auto parameter = [&](const Label& of, std::initializer_list<A> axes) {
        return g.parameter(of, axes_of(axes, d));
    };
    if (variant.c2p || variant.p2c) {
        d.Hkv = d.H;
        d.distances = 6;
    }
    Attention a{.dims = d,
                .x = input(labels::x, {A::B, A::Tq, A::D}),
                .W_Q = parameter(labels::W_Q, {A::D, A::H_dk}),
                .W_K = parameter(labels::W_K, {A::Dkv, A::Hkv_dk}),
                .W_V = parameter(labels::W_V, {A::Dkv, A::Hkv_dv}),
                .W_O = parameter(labels::W_O, {A::H_dv, A::D})};
    if (variant.cross)
        a.x_kv = input(labels::x_kv, {A::B, A::Tk, A::Dkv});
    if (variant.bias) {
        a.b_Q = parameter(labels::b_Q, {A::H_dk});
        a.b_K = parameter(labels::b_K, {A::Hkv_dk});
        a.b_V = parameter(labels::b_V, {A::Hkv_dv});
        a.b_O = parameter(labels::b_O, {A::D});
    }
    a.joint_norm = variant.joint_norm;
    a.norm = {.eps = 0.25, .centered = variant.centered};
    if (variant.joint_norm) {
        a.q_norm = parameter(labels::q_norm_all, {A::H_dk});
        a.k_norm = parameter(labels::k_norm_all, {A::Hkv_dk});
    }
    if (variant.head_norm) {
        a.q_norm = parameter(labels::q_norm, {A::dk});
        a.k_norm = parameter(labels::k_norm, {A::dk});
    }
    if (variant.value_norm)
        a.v_norm = parameter(labels::v_norm, {A::dv});
    if (variant.rotary) {
        const std::int64_t width = variant.rotation.width > 0 ? variant.rotation.width : d.dk;
        const Axes axes{{"B", 1}, {"Tq", d.Tq}, {"dk", width}};
        a.rotary = graph::Rotary{g.input(labels::rotary_cos, axes), g.input(labels::rotary_sin, axes),
                                 variant.rotation};
    }
    if (variant.query_scale)
        a.query_scale = input(labels::query_scale, {A::Tq});
    if (variant.temperature)
        a.temperature = g.input(labels::temperature, {});
    a.qkv_limit = variant.limit;
    a.score_cap = variant.cap;
    a.mask = variant.mask;
    if (variant.added)
        a.added = input(labels::mask, {A::H, A::Tq, A::Tk});
    if (variant.allowed)
        a.allowed = g.input(labels::allowed, axes_of({A::B, A::Tk}, d), Input::Kind::flags);
    if (variant.sink)
        a.sink = parameter(labels::sink, {A::H});
    if (variant.gate) {
        a.W_G = parameter(labels::W_G, {A::D, A::H_dv});
        a.b_G = parameter(labels::b_G, {A::H_dv});
    }
    if (variant.c2p || variant.p2c) {
        a.relative =
            RelativePositions{.rows = {.span = 3, .buckets = variant.own_positions ? 0 : 3, .furthest = 4},
                              .table = input(labels::rel_positions, {A::distances, A::D}),
                              .c2p = variant.c2p,
                              .p2c = variant.p2c};
        if (variant.own_positions) {
            a.relative->W_K = parameter(labels::W_KR, {A::D, A::Hkv_dk});
            a.relative->b_K = parameter(labels::b_KR, {A::Hkv_dk});
            a.relative->W_Q = parameter(labels::W_QR, {A::D, A::H_dk});
            a.relative->b_Q = parameter(labels::b_QR, {A::H_dk});
        }
    }
    if (variant.gain)
        a.gain = input(labels::gain, {A::H});
    attention(g, a);
    return g.finish();
}

Value constant(Builder& g, const char* name, const Axes& axes, float first) {
    std::vector<float> numbers;
    for (std::int64_t n = 0; n < axes.count(); ++n)
        numbers.push_back(first + static_cast<float>(n % 3));
    return g.constant(label(name), axes, make_tensor(axes.shape(), numbers));
}

/// Operations around attention, one after another.
Graph block_graph() {
    Builder g;
    const Value ids = g.input(labels::ids, axes_of({A::B, A::Tq}, dims), Input::Kind::ids);
    const Value W_E = g.parameter(label("W_E"), axes_of({A::vocab, A::D}, dims));
    const Value x = g.embedding(labels::embedding, ids, W_E, 1.5);
    const Value y = g.embedding(label("plain_embedding"), ids, W_E);
    const Value weight = g.parameter(label("weight"), axes_of({A::D}, dims));
    const Value bias = g.parameter(label("bias"), axes_of({A::D}, dims));
    const Value sum = g.add(labels::resid_mid, {x, y, bias});
    g.multiply(label("product"), sum, weight);
    g.scale(labels::head_scaled, sum, {.factor = 0.25});
    g.scale(label("capped"), sum, {.cap = 0.5});
    g.rms_norm(label("rms"), sum, weight, 0.25);
    g.rms_norm(label("rms_without_weight"), sum, {}, 0.25);
    const Value normed = g.layer_norm(label("norm"), sum, weight, bias, 0.25);
    g.layer_norm(label("norm_without_weight"), sum, {}, {}, 0.25);
    g.slice(label("slice"), sum, {1, {"r", 2}});
    const Axes heads{{"B", 2}, {"H", 4}, {"Tq", 3}, {"dn", 2}};
    const Value own = g.input(label("own"), heads);
    const Value shared = g.input(label("shared"), heads.with(1, {"H", 1}).with(3, {"dr", 3}));
    g.concat(label("joined"), {own, shared}, "dk");
    for (int function = 0; function < function_count; ++function) {
        static constexpr std::array<std::string_view, function_count> names{
            "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11"};
        g.activation(label(names[static_cast<std::size_t>(function)]), normed,
                     static_cast<Function>(function));
    }
    const Value logits = g.linear(labels::logits, normed, W_E.as(label("W_U")), {}, {.transposed = true});
    g.softmax(labels::probabilities, logits);
    const Value places = constant(g, "places", axes_of({A::B, A::Tk}, dims), 0);
    g.make(labels::alibi, Op::alibi, Alibi{.slopes = {0.5F, 0.25F}}, {places});
    g.make(label("alibi_bfloat16"), Op::alibi,
           Alibi{.slopes = {0.7071F, 0.3F}, .bfloat16 = true, .divisor = 2}, {places});
    const Value table = g.parameter(label("bucket_table"), {{"buckets", 8}, {"H", 2}});
    for (const bool both : {false, true})
        g.make(label(both ? "both_sides" : "one_side"), Op::distance_bias,
               DistanceBias{.queries = 5, .keys = 7, .furthest = 6, .both_sides = both}, {table});
    return g.finish();
}

Graph mlp_graph(bool gated, bool bias) {
    Builder g;
    const Value x = g.input(labels::x, axes_of({A::B, A::Tq, A::D}, dims));
    const auto b = [&](std::string_view name, A axis) {
        return bias ? OptionalValue(g.parameter(label(name), axes_of({axis}, dims))) : std::nullopt;
    };
    Mlp parts{.W_in = g.parameter(label("W_in"), axes_of({A::D, A::d_ff}, dims)),
              .W_out = g.parameter(label("W_out"), axes_of({A::d_ff, A::D}, dims)),
              .b_in = b("b_in", A::d_ff),
              .b_out = b("b_out", A::D),
              .function = Function::silu};
    if (gated) {
        parts.W_gate = g.parameter(label("W_gate"), axes_of({A::D, A::d_ff}, dims));
        parts.b_gate = b("b_gate", A::d_ff);
    }
    mlp(g, labels::mlp_out, x, parts);
    return g.finish();
}

/// Operations of several copies of the residual stream, and of gates that are mostly 0.
Graph copies_graph() {
    Builder g;
    const Axes rows = axes_of({A::B, A::Tq, A::D}, dims);
    const Value a = g.input(label("a"), rows), b = g.input(label("b"), rows),
                c = g.input(label("c"), rows.with(2, {"C", 5}));
    g.make(label("matched"), Op::match_magnitude, Magnitude{.least = 1e-5}, {a, b});
    g.make(label("matched_least"), Op::match_magnitude, Magnitude{.least = 4}, {a, b});
    g.make(label("mixed"), Op::mix, Mix{.first = 2}, {c, a, b, a});
    g.make(label("mixed_offset"), Op::mix, Mix{.first = 4, .offset = 1}, {c, a, b});
    g.make(label("sparse"), Op::gaussian_top_k, GaussianTopK{.deviations = 0.5}, {a});
    g.make(label("dense"), Op::gaussian_top_k, GaussianTopK{.deviations = -9}, {a});
    return g.finish();
}

Graph delta_graph(bool padded) {
    Builder g;
    Dims d = dims;
    d.delta_H = 4;
    d.delta_Hqk = 2;
    d.delta_dk = 3;
    d.delta_dv = 2;
    const auto parameter = [&](std::string_view name, std::initializer_list<A> axes) {
        return g.parameter(label(name), axes_of(axes, d));
    };
    const auto convolution = [&](std::string_view name, A channels) {
        return g.parameter(label(name), {{"K", 2}, axis_of(channels, d)});
    };
    const Value x = g.input(labels::x, axes_of({A::B, A::Tq, A::D}, d));
    delta_layer(g, {.x = x,
                    .token_valid = padded ? OptionalValue(g.input(labels::token_valid,
                                                                  {{"B", d.B}, {"Tq", d.Tq}, {"D", 1}}))
                                          : std::nullopt,
                    .W_q = parameter("W_q", {A::D, A::delta_Hqk_dk}),
                    .W_k = parameter("W_k", {A::D, A::delta_Hqk_dk}),
                    .W_v = parameter("W_v", {A::D, A::delta_H_dv}),
                    .W_z = parameter("W_z", {A::D, A::delta_H_dv}),
                    .W_a = parameter("W_a", {A::D, A::delta_H}),
                    .W_b = parameter("W_b", {A::D, A::delta_H}),
                    .conv_q = convolution("conv_q", A::delta_Hqk_dk),
                    .conv_k = convolution("conv_k", A::delta_Hqk_dk),
                    .conv_v = convolution("conv_v", A::delta_H_dv),
                    .A_log = parameter("A_log", {A::delta_H}),
                    .dt_bias = parameter("dt_bias", {A::delta_H}),
                    .norm = parameter("norm", {A::delta_dv}),
                    .W_out = parameter("W_out", {A::delta_H_dv, A::D}),
                    .eps = 0.25});
    return g.finish();
}

Graph mixture_graph(const Route& route, const Gate& gate, bool bias, Experts experts = {}) {
    Builder g;
    Dims d = dims;
    d.experts = 4;
    const Value x = g.input(labels::x, axes_of({A::B, A::Tq, A::D}, d));
    const auto parameter = [&](std::string_view name, std::initializer_list<A> axes) {
        return g.parameter(label(name), axes_of(axes, d));
    };
    Mixture parts{.W_router = parameter("W_router", {A::D, A::experts}),
                  .W_gate = parameter("W_gate", {A::experts, A::D, A::d_ff}),
                  .W_in = parameter("W_in", {A::experts, A::D, A::d_ff}),
                  .W_out = parameter("W_out", {A::experts, A::d_ff, A::D}),
                  .route = route,
                  .gate = gate,
                  .experts = experts};
    if (bias) {
        parts.b_router = parameter("b_router", {A::experts});
        parts.b_gate = parameter("b_gate", {A::experts, A::d_ff});
        parts.b_in = parameter("b_in", {A::experts, A::d_ff});
        parts.b_out = parameter("b_out", {A::experts, A::D});
    }
    mixture(g, labels::mlp_out, x, parts);
    return g.finish();
}

} // namespace

std::vector<SampleGraph> sample_graphs() {
    std::vector<SampleGraph> samples;
    const std::vector<AttentionVariant> variants{
        {.name = "attention"},
        {.name = "attention without biases", .bias = false, .gain = false},
        {.name = "cross-attention", .added = true, .allowed = true, .cross = true},
        {.name = "head norm", .head_norm = true},
        {.name = "head norm, value norm", .head_norm = true, .value_norm = true},
        {.name = "value norm", .rotary = true, .value_norm = true},
        {.name = "head LayerNorm, rotary", .head_norm = true, .centered = true, .rotary = true},
        {.name = "joint norm, rotary", .joint_norm = true, .rotary = true},
        {.name = "rotary", .rotary = true},
        {.name = "rotary in pairs",
         .rotary = true,
         .rotation = {.pairs = Rotation::Pairs::neighbors, .first = 1, .width = 2}},
        {.name = "partial rotary", .rotary = true, .rotation = {.width = 2}},
        {.name = "limit, cap, temperature", .temperature = true, .limit = 0.75, .cap = 2},
        {.name = "temperature", .temperature = true},
        {.name = "causal", .mask = {.after = 0}},
        {.name = "window, sink", .sink = true, .mask = {.before = 1, .after = 0}},
        {.name = "added mask", .added = true, .mask = {.after = 1}},
        {.name = "padding", .allowed = true},
        {.name = "gated head outputs", .gate = true},
        {.name = "scaled queries", .query_scale = true},
        {.name = "norm, scaled queries", .head_norm = true, .query_scale = true},
        {.name = "chunks", .mask = {.after = 0, .chunk = 2}},
        {.name = "chunks, window", .mask = {.before = 1, .after = 1, .chunk = 2}},
        {.name = "relative positions", .c2p = true, .p2c = true},
        {.name = "relative positions of queries", .c2p = true, .own_positions = true},
        {.name = "relative positions of keys", .bias = false, .p2c = true}};
    for (const AttentionVariant& variant : variants)
        samples.push_back({variant.name, attention_graph(variant)});
    samples.push_back({"delta layer", delta_graph(false)});
    samples.push_back({"delta layer with padding", delta_graph(true)});
    samples.push_back({"block", block_graph()});
    samples.push_back({"copies", copies_graph()});
    samples.push_back({"MLP", mlp_graph(false, true)});
    samples.push_back({"gated MLP", mlp_graph(true, false)});
    samples.push_back({"gated MLP with biases", mlp_graph(true, true)});
    using Score = Route::Score;
    samples.push_back({"mixture", mixture_graph({.used = 2}, {}, false)});
    samples.push_back(
        {"mixture with limits",
         mixture_graph({.used = 3}, {.function = Function::gelu_quick, .limit = 0.5, .offset = 1}, true)});
    samples.push_back(
        {"mixture of a softmax", mixture_graph({.used = 2, .score = Score::softmax}, {}, true)});
    samples.push_back(
        {"mixture of sigmoids",
         mixture_graph({.used = 2, .score = Score::sigmoid, .sum_to_one = true, .factor = 2.5}, {}, false)});
    for (const bool bias : {false, true})
        samples.push_back({bias ? "mixture of scaled inputs with biases" : "mixture of scaled inputs",
                           mixture_graph({.used = 2, .score = Score::sigmoid, .sum_to_one = true}, {}, bias,
                                         {.scaled_input = true})});
    return samples;
}

Leaves random_leaves(const Graph& graph, std::uint64_t seed) {
    Numbers numbers(seed);
    Leaves leaves;
    for (const Node& node : graph.nodes()) {
        if (node.op != Op::parameter && node.op != Op::input)
            continue;
        const auto* input = std::get_if<Input>(&node.attributes);
        TensorPtr tensor = numbers.tensor(node.axes.shape(), 1);
        if (input != nullptr && input->kind != Input::Kind::numbers) {
            Tensor whole(node.axes.shape());
            for (float& number : whole.values())
                number = static_cast<float>(
                    numbers.whole(0, input->kind == Input::Kind::flags ? 1 : dims.vocab - 1));
            tensor = std::make_shared<const Tensor>(std::move(whole));
        } else if (node.name == "temperature") {
            tensor = make_tensor({}, std::vector{1.25F});
        }
        leaves.emplace(node.name, std::move(tensor));
    }
    return leaves;
}

} // namespace headscope::graph
