#include "core/attention/graph_of_problem.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/core/run/run_cases.h"
#include "tests/support.h"

using namespace headscope;
using namespace headscope::test;

namespace {

using enum TensorId;

/// Problems of every feature by name, with a gate as well.
std::map<std::string, Problem> problems() {
    std::map<std::string, Problem> all = problems_of_every_feature();
    Problem& gated = all["gate"] = all.at("plain");
    const Dims& d = gated.dims;
    Numbers numbers(22);
    gated.weights.W_G = numbers.tensor({d.D, d.H * d.dv}, 1);
    gated.weights.b_G = numbers.tensor({d.H * d.dv}, 1);
    return all;
}

std::string formula(const std::string& name, TensorId stage) {
    return attention_graph(problems().at(name)).formula(stage);
}

} // namespace

// The expected texts are written down from the papers that the graph's parts cite.
TEST_CASE("the formula of a stage says what this problem computes", "[graph]") {
    CHECK(formula("plain", q) == "Q = X W_Q + b_Q");
    CHECK(formula("no biases", k) == "K = X W_K");
    CHECK(formula("cross", v) == "V = X_kv W_V + b_V");
    CHECK(formula("limit", q) == "Q = X W_Q + b_Q, clipped to [−c, c]");
    CHECK(formula("plain", q_heads) == "q_heads[h] = q[:, h·dk : (h+1)·dk]");
    CHECK(formula("head norm", q_heads) == "q_heads[h] = q_normed[h]");
    CHECK(formula("rotary", k_heads) == "k_heads[h] = k[:, h·dk : (h+1)·dk], rotated by position");
    CHECK(formula("plain", scores) == "scores[h] = q_heads[h] · k_heads[h]ᵀ");
    CHECK(formula("relative positions", scores) == "scores[h] = q_heads[h] · k_heads[h]ᵀ + c2p[h] + p2c[h]");
    CHECK(formula("p2c", scores) == "scores[h] = q_heads[h] · k_heads[h]ᵀ + p2c[h]");
    CHECK(formula("plain", scaled) == "scaled = scores ÷ √dk");
    CHECK(formula("temperature", scaled) == "scaled = scores ÷ (√dk · temperature)");
    CHECK(formula("cap", scaled) == "scaled = c · tanh(scores ÷ √dk ÷ c)");
    CHECK(formula("cap and temperature", scaled) == "scaled = c · tanh(scores ÷ (√dk · temperature) ÷ c)");
    CHECK(formula("causal", masked) == "masked = scaled where allowed, else −∞");
    CHECK(formula("plain", masked) == "masked = scaled");
    CHECK(formula("added mask", masked) == "masked = scaled + mask where allowed, else −∞");
    CHECK(formula("plain", weights) == "weights = softmax(masked), one row per query token");
    CHECK(formula("gate", gate) == "gate[h] = (X W_G + b_G)[:, h·dv : (h+1)·dv]");
    CHECK(formula("gate", concat) == "concat = [head_out_gated[0], head_out_gated[1], …]");
    CHECK(formula("plain", contributions) == "contributions[h] = head_out[h] · W_O[rows of h]");
    CHECK(formula("no biases", output) == "output = concat · W_O");
    CHECK(formula("plain", x).empty());
    CHECK(formula("plain", W_Q).empty());
    CHECK(formula("plain", q_normed).empty());
}

TEST_CASE("a stage names the tensors that it is computed from", "[graph]") {
    using Ids = std::vector<TensorId>;
    const auto all = problems();
    const auto inputs = [&](const char* name, TensorId stage) {
        return attention_graph(all.at(name)).inputs(stage);
    };
    CHECK(inputs("plain", q) == Ids{x, W_Q, b_Q});
    CHECK(inputs("cross", k) == Ids{x_kv, W_K, b_K});
    CHECK(inputs("plain", k) == Ids{x, W_K, b_K});
    CHECK(inputs("head norm and rotary", q_heads) == Ids{q_normed, rotary_cos, rotary_sin});
    CHECK(inputs("joint norm", q_normed) == Ids{q, q_norm_all});
    CHECK(inputs("explicit mask", masked) == Ids{scaled});
    CHECK(inputs("added mask", masked) == Ids{scaled, mask});
    CHECK(inputs("gate", gate) == Ids{x, W_G, b_G});
    CHECK(inputs("gate", contributions) == Ids{head_out_gated, W_O, gain});
    CHECK(inputs("plain", W_Q).empty());
    CHECK(inputs("plain", gate).empty());
    const AttentionGraph gated = attention_graph(all.at("gate"));
    CHECK(gated.op(gate) == graph::Op::linear);
    CHECK(gated.reads_from(gate, W_G));
    CHECK_FALSE(gated.reads_from(q, W_G));
}

TEST_CASE("the steps from a projection to the rows of its heads are those that the problem has", "[graph]") {
    using Ids = std::vector<TensorId>;
    const auto all = problems();
    const auto steps = [&](const char* name) { return attention_graph(all.at(name)).steps_to(k_heads); };
    CHECK(steps("plain") == Ids{k, k_heads});
    CHECK(steps("joint norm") == Ids{k, k_normed, k_heads});
    for (const auto& [name, problem] : all) {
        INFO(name);
        const AttentionGraph graph = attention_graph(problem);
        const ProblemParts parts = problem.parts();
        CHECK(graph.heads_are_columns() ==
              !(parts.rotary || parts.qk_norm || parts.joint_norm || parts.value_norm));
        CHECK(graph.with_sources(StageSet().with(q_heads)) ==
              (parts.qk_norm || parts.joint_norm ? StageSet().with(q_heads).with(q_normed).with(q)
                                                 : StageSet().with(q_heads).with(q)));
    }
}

TEST_CASE("every cell that a stage reads lies inside the tensor that it is in", "[graph]") {
    for (const auto& [name, problem] : problems()) {
        const AttentionGraph graph = attention_graph(problem);
        for (const TensorInfo& info : stages_of(problem.parts())) {
            const Shape shape = info.shape(problem.dims);
            Index last{};
            for (int axis = 0; axis < shape.rank(); ++axis)
                last[static_cast<std::size_t>(axis)] = shape[axis] - 1;
            for (const Index& at : {Index{}, last})
                for (const ReadSpan& span : graph.reads(info.id, at)) {
                    const TensorInfo& source = tensor_info(span.source);
                    INFO(name << ": " << info.name << " reads " << source.name);
                    for (int axis = 0; axis < source.rank(); ++axis) {
                        const auto begin = span.first[static_cast<std::size_t>(axis)];
                        CHECK(begin >= 0);
                        CHECK(begin + (axis == span.axis ? span.count : 1) <=
                              source.shape(problem.dims)[axis]);
                    }
                }
        }
    }
}

TEST_CASE("reads pair the factors of a product, and follow grouped heads and relative positions", "[graph]") {
    const auto all = problems();
    const AttentionGraph plain = attention_graph(all.at("plain"));
    const auto product = plain.reads(scores, {1, 3, 2, 1});
    REQUIRE(product.size() == 2);
    CHECK(product[0].first == Index{1, 3, 2, 0});
    CHECK(product[1].first == Index{1, 1, 1, 0});
    CHECK(product[0].count == product[1].count);
    CHECK(plain.reads(concat, {0, 2, 5, 0})[0].first == Index{0, 1, 2, 2});

    const AttentionGraph relative = attention_graph(all.at("relative positions"));
    const auto of_query = relative.reads(c2p, {1, 3, 0, 2});
    REQUIRE(of_query.size() == 2);
    CHECK(of_query[0].first == Index{1, 3, 0, 0});
    CHECK(of_query[1].first == Index{1, 12, 0, 0}); // row 3 + (0 − 2), head 3 of width 4
    const auto of_key = relative.reads(p2c, {1, 3, 2, 0});
    CHECK(of_key[0].first == Index{1, 3, 0, 0});
    CHECK(of_key[1].first == Index{5, 12, 0, 0}); // row 3 + (2 − 0)
    CHECK(relative.reads(scores, {1, 3, 2, 1}).size() == 4);
}
