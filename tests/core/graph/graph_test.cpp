#include "core/graph/builder.h"
#include "core/graph/evaluate.h"
#include "core/graph/labels.h"
#include "core/graph/parts/sizes.h"
#include "tests/catch.h"
#include "tests/core/graph/sample_graphs.h"
#include "tests/support.h"

using namespace headscope;
using Catch::Contains;
using Catch::EndsWith;
using graph::Axes;
using graph::Builder;
using graph::Graph;
using graph::Value;
namespace labels = headscope::graph::labels;

namespace {

constexpr graph::Label W{"W", untranslated("W"), "W", graph::Step::qkv};
const Axes x_axes{{"B", 1}, {"Tq", 2}, {"D", 3}};

/// y = x W in layer 1, then x + y.
Graph small_graph() {
    Builder g;
    const Value x = g.input(labels::x, x_axes);
    Builder layer = g.layer(graph::Stack::own, 1);
    const Value in = layer.alias(labels::resid_in, x);
    const Value y = layer.linear(labels::attn_out, in, layer.parameter(W, {{"D", 3}, {"D", 3}}));
    layer.add(labels::resid_mid, {in, y});
    return g.finish();
}

const graph::Leaves small_numbers{
    {"x", make_tensor({1, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})},
    {"layers.1.W", make_tensor({3, 3}, std::vector<float>{1, 0, 0, 0, 2, 0, 0, 0, 3})}};

std::string misfit(const std::function<void(Builder&, const Value&)>& build) {
    return input_error([&] {
        Builder g;
        build(g, g.input(labels::x, x_axes));
    });
}

} // namespace

TEST_CASE("a graph knows its nodes by name, by other names, and by who reads them", "[graph]") {
    const Graph graph = small_graph();
    CHECK(graph.nodes().size() == 4);
    CHECK(graph.find("layers.1.resid_in") == graph.find("x"));
    CHECK(graph["layers.1.W"].op == graph::Op::parameter);
    CHECK(graph["layers.1.W"].local_name() == "W");
    CHECK(graph["layers.1.resid_mid"].location ==
          graph::Location{graph::Stack::own, 1, graph::Step::resid_mid});
    CHECK(graph.formula(graph.find("layers.1.resid_mid")) == "resid_mid = resid_in + attn_out");
    CHECK(graph.pytorch(graph.find("layers.1.attn_out")) == "layers_1_attn_out = x @ layers_1_W\n");
    std::string readers;
    for (const graph::NodeId reader : graph.readers(graph.find("x")))
        readers += std::string(graph.node(reader).local_name()) + " ";
    CHECK(readers == "attn_out resid_mid ");
    CHECK_FALSE(graph.try_find("layers.2.W"));
    CHECK_THAT(input_error([&] { static_cast<void>(graph.find("layers.2.W")); }),
               Contains("there is no node layers.2.W") && Contains("nearest names are layers.1.W, "));
}

TEST_CASE("a formula has constants as people write them, and PyTorch all of their digits", "[graph]") {
    Builder g;
    const Value half = g.scale(labels::attn_out, g.input(labels::x, x_axes), {.factor = std::sqrt(0.5)});
    const graph::NodeId node = half.node();
    const Graph graph = g.finish();
    CHECK(graph.formula(node) == "attn_out = x · 0.7071");
    CHECK_THAT(graph.pytorch(node), Contains("x * 0.707106781186547"));
}

TEST_CASE("the inputs of a node that do not fit together are named", "[graph]") {
    const Axes wide{{"H·dk", 4}, {"D", 3}};
    CHECK(misfit([&](Builder& g, const Value& x) { g.linear(labels::q, x, g.parameter(W, wide)); }) ==
          "q = linear(x, W): input 2 has axes (H·dk 4, D 3); it should have H·dk 3");
    CHECK_THAT(misfit([](Builder& g, const Value& x) {
                   g.add(labels::resid_mid, {x, g.input(labels::mask, {{"Tk", 2}})});
               }),
               Contains("resid_mid = add(x, mask): input 2 has axes (Tk 2)") && Contains("(B 1, Tq 2, D 3)"));
    CHECK_THAT(
        misfit([](Builder& g, const Value& x) { g.make(labels::q_heads, graph::Op::split_heads, {}, {x}); }),
        Contains("q_heads = split_heads(x): input 1"));
    CHECK_THAT(misfit([](Builder& g, const Value&) { g.input(labels::x, x_axes); }),
               Contains("two nodes named x"));
    CHECK_THAT(misfit([](Builder& g, const Value& x) { g.alias(labels::x, x); }),
               Contains("two nodes named x"));
}

TEST_CASE("a run computes what is captured, whole or in part", "[graph]") {
    const Graph graph = small_graph();
    const graph::Evaluation run =
        graph::evaluate(graph, small_numbers, {{"layers.1.resid_mid", {{"Tq", {1, 1}}, {"D", {1}}}}, {"x"}});
    CHECK(run["layers.1.resid_mid"].axes == Axes{{"B", 1}, {"Tq", 1}, {"D", 2}});
    CHECK(run["layers.1.resid_mid"].values == std::vector<double>{15, 24});
    CHECK(run["layers.1.resid_in"].values == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK_FALSE(run.has("layers.1.attn_out"));
    const auto error = [&](const std::vector<graph::Part>& captures) {
        return input_error([&] { static_cast<void>(graph::evaluate(graph, small_numbers, captures)); });
    };
    CHECK_THAT(error({{"layers.1.resid", {}}}), Contains("nearest names are layers.1.resid_"));
    CHECK_THAT(error({{"x", {{"Tk", {}}}}}), Contains("x has no axis Tk; it has B, Tq, D"));
    CHECK_THAT(error({{"x", {{"Tq", {1, 2}}}}}), Contains("x has 2 entries along Tq, and 1 to 2"));
    CHECK_THAT(input_error([&] { static_cast<void>(run["layers.1.attn_out"]); }),
               Contains("layers.1.attn_out was not captured"));
    CHECK_THAT(input_error([&] { static_cast<void>(run.explain("layers.1.resid_mid", {})); }),
               Contains("layers.1.attn_out was not captured"));
}

TEST_CASE("a run asks for the leaves that it needs, and names those that are wrong", "[graph]") {
    const Graph graph = small_graph();
    std::vector<std::string> asked;
    const graph::LeafSource source = [&](const graph::Node& node) {
        asked.push_back(node.name);
        return small_numbers.at(node.name);
    };
    static_cast<void>(graph::evaluate(graph, source, {{"x"}}));
    CHECK(asked == std::vector<std::string>{"x"});
    graph::Leaves few = small_numbers;
    few.erase("layers.1.W");
    const auto error = [&] {
        return input_error([&] { static_cast<void>(graph::evaluate(graph, few, {{"layers.1.resid_mid"}})); });
    };
    CHECK(error() == "layers.1.W has no numbers; give a tensor with the axes (D 3, D 3)");
    few["layers.1.W"] = make_tensor({9}, std::vector<float>(9));
    CHECK(error() == "layers.1.W has shape (9); it should have the axes (D 3, D 3)");
}

TEST_CASE("PyTorch's lines of a node are assignments to its name", "[graph]") {
    // Compared with torch by hand for all sample graphs; here some of each kind.
    const auto line = [](const std::string& sample, const std::string& node) {
        for (const graph::SampleGraph& one : graph::sample_graphs())
            if (one.name == sample)
                return one.graph.pytorch(one.graph.find(node));
        return std::string("no such graph");
    };
    CHECK(line("attention", "q") == "q = x @ W_Q + b_Q\n");
    CHECK(line("attention", "q_heads") == "q_heads = q.unflatten(-1, (H, dk)).transpose(1, 2)\n");
    CHECK_THAT(
        line("attention", "scores"),
        Contains("# Grouped-query attention") &&
            EndsWith("\nscores = q_heads @ k_heads.repeat_interleave(H // Hkv, dim=1).transpose(-2, -1)\n"));
    CHECK(line("temperature", "scaled") == "scaled = scores / (math.sqrt(dk) * temperature)\n");
    CHECK_THAT(line("causal", "masked"),
               EndsWith("i = torch.arange(Tq).reshape(-1, 1)\nj = torch.arange(Tk)\n"
                        "masked = scaled.masked_fill(~(j <= i), -math.inf)\n"));
    CHECK_THAT(line("added mask", "weights"),
               EndsWith("closed = (masked == -math.inf).all(dim=-1, keepdim=True)\n"
                        "weights = torch.softmax(masked, dim=-1).masked_fill(closed, 0.0)\n"));
    CHECK_THAT(line("attention", "concat"),
               EndsWith("concat = (head_out * gain.reshape(1, -1, 1, 1)).transpose(1, 2).flatten(-2)\n"));
    CHECK(line("gated MLP", "mlp_act") == "mlp_act = torch.nn.functional.silu(mlp_gate) * mlp_pre\n");
    CHECK(line("attention", "x").empty());
    for (const graph::SampleGraph& one : graph::sample_graphs())
        for (graph::NodeId id = 0; id < static_cast<graph::NodeId>(one.graph.nodes().size()); ++id) {
            const std::string lines = one.graph.pytorch(id);
            INFO(lines);
            CHECK(lines.empty() == one.graph.node(id).inputs.empty());
            std::string name = one.graph.node(id).name;
            std::ranges::replace(name, '.', '_');
            CHECK((lines.empty() || lines.find(name + " = ") != std::string::npos));
        }
}

TEST_CASE("the cost of a node counts its products and its numbers", "[graph]") {
    for (const graph::SampleGraph& one : graph::sample_graphs()) {
        if (one.name != "attention")
            continue;
        // q: 2 x 3 tokens, D 4, H dk 16; scores: 2 x 4 heads x 3 x 3, dk 4.
        CHECK(one.graph.cost(one.graph.find("q")).multiply_adds == 2 * 3 * 16 * 4);
        CHECK(one.graph.cost(one.graph.find("q")).bytes == 4 * (2 * 3 * 16 + 2 * 3 * 4 + 4 * 16 + 16));
        CHECK(one.graph.cost(one.graph.find("scores")).multiply_adds == 2 * 4 * 3 * 3 * 4);
        CHECK(one.graph.cost(one.graph.find("x")).multiply_adds == 0);
    }
}
