#include "core/attention/graph_of_problem.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/reference.h"
#include "tests/core/run/run_cases.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace headscope;

namespace {

/// Evaluates the graph of a problem in double precision; every stage is a node.
Trace graph_trace(const Problem& problem) {
    const ProblemGraph built = graph_of(problem);
    const graph::Evaluation run = graph::evaluate(built.graph, built.leaves, test::all_stages(problem));
    Trace trace{
        .dims = problem.dims, .stages = {}, .fully_masked = {}, .device = "graph", .parts = problem.parts()};
    for (const TensorInfo& info : stages_of(problem.parts()))
        trace.slot(info.id) = run[info.name].rounded();
    const Tensor& masked = *trace.stage(TensorId::masked);
    for (std::int64_t row = 0; row < masked.count(); row += problem.dims.Tk)
        if (std::all_of(masked.data() + row, masked.data() + row + problem.dims.Tk,
                        [](float score) { return std::isinf(score); })) {
            const Index at = masked.shape().index(row);
            trace.fully_masked.push_back({at[0], at[1], at[2]});
        }
    return trace;
}

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

} // namespace

TEST_CASE("the graph of a problem meets PyTorch's numbers in every golden case", "[graph]") {
    const auto cases = golden_cases();
    REQUIRE(cases.size() >= 31);
    check_none(failures(cases, graph_trace));
}

TEST_CASE("the graph of a problem meets the reference on generated cases", "[graph]") {
    auto cases = generated_cases();
    for (ConformanceCase& one : cases)
        one.expected = reference_trace(one.problem);
    check_none(failures(cases, graph_trace));
}

TEST_CASE("the graph of a problem has every feature's stages with the reference's numbers", "[graph]") {
    std::vector<ConformanceCase> cases;
    for (const auto& [name, problem] : test::problems_of_every_feature())
        cases.push_back({name, "", problem, reference_trace(problem)});
    check_none(failures(cases, graph_trace));
}

TEST_CASE("each stage is a node with the stage table's words and axes", "[graph]") {
    for (const auto& [name, problem] : test::problems_of_every_feature()) {
        INFO(name);
        const graph::Graph graph = graph_of(problem).graph;
        for (const TensorInfo& info : stages_of(problem.parts())) {
            INFO(info.name);
            const graph::NodeId id = graph.find(info.name);
            const graph::Node& node = graph.node(id);
            CHECK(node.name == info.name);
            CHECK(node.title == info.title);
            CHECK(node.symbol == info.symbol);
            CHECK(static_cast<int>(node.location.step) == static_cast<int>(info.group));
            CHECK(node.location.layer == -1);
            CHECK(static_cast<int>(graph.operation(id).page(node.location.step)) ==
                  static_cast<int>(group_info(info.group).page));
            CHECK(
                node.axes.names() ==
                axis_names(std::span(info.axes).first(static_cast<std::size_t>(info.rank())), problem.dims));
            CHECK(node.axes.shape() == info.shape(problem.dims));
        }
        for (const TensorInfo& info : input_table())
            if (problem.input(info.id) != nullptr && !graph.try_find(info.name))
                FAIL_CHECK(info.name << " is not in the graph");
        for (const graph::Node& node : graph.nodes())
            if (const auto id = find_tensor(node.name)) {
                INFO(node.name);
                CHECK(node.title == tensor_info(*id).title);
                CHECK(node.symbol == tensor_info(*id).symbol);
            } else {
                CHECK(node.name == "allowed");
            }
    }
}

TEST_CASE("a problem's mask becomes limits of distance, and inputs of the smallest shape", "[graph]") {
    const auto problems = test::problems_of_every_feature();
    const auto masked = [&](const char* name) {
        const graph::Graph graph = graph_of(problems.at(name)).graph;
        const graph::Node& node = graph["masked"];
        std::string inputs;
        for (const graph::Reading& input : node.inputs)
            inputs += input.name + graph.node(input.node).axes.text();
        const auto& mask = std::get<graph::Mask>(node.attributes);
        const auto limit = [](std::optional<std::int64_t> at) { return at ? std::to_string(*at) : "-"; };
        return inputs + " " + limit(mask.before) + " " + limit(mask.after);
    };
    const std::string scaled = "scaled(B 2, H 4, Tq 3, Tk 3)";
    CHECK(masked("plain") == scaled + " - -");
    CHECK(masked("causal") == scaled + " - 0");
    CHECK(masked("window") == scaled + " 1 0");
    CHECK(masked("symmetric window") == scaled + " 1 1");
    CHECK(masked("padding") == scaled + "allowed(B 2, Tk 3) - -");
    CHECK(masked("added mask") == scaled + "mask(H 4, Tq 3, Tk 3) - 0");
}
