#include "core/graph/builder.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/core/run/run_cases.h"
#include "tests/support.h"
#include "tests/tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace headscope;
using namespace headscope::test;

namespace {

std::vector<std::pair<std::string, Problem>> all_problems() {
    std::vector<std::pair<std::string, Problem>> problems;
    for (const ConformanceCase& one : golden_cases())
        problems.emplace_back(one.name, one.problem);
    for (const auto& cases : {generated_cases(), gated_cases(), chunked_cases(), value_norm_cases()})
        for (const ConformanceCase& one : cases)
            problems.emplace_back(one.name + one.parameters, one.problem);
    for (const auto& [name, problem] : problems_of_every_feature())
        problems.emplace_back(name, problem);
    return problems;
}

/// The trace of the engine; nothing for a problem that it refuses.
std::optional<Trace> engine_trace(cpu::CpuEngine& engine, const Problem& problem) {
    std::optional<Trace> trace;
    static_cast<void>(input_error([&] { trace = engine.run(problem); }));
    return trace;
}

TensorPtr with_cell(const Tensor& tensor, std::int64_t offset, float value) {
    auto changed = std::make_shared<Tensor>(tensor.shape(), tensor.values());
    changed->data()[offset] = value;
    return changed;
}

run::Intervention set_number(const std::string& node, std::map<std::string, graph::Range> ranges,
                             float value) {
    return {.part = {node, std::move(ranges)}, .values = make_tensor({}, std::array{value})};
}

} // namespace

TEST_CASE("a run that captures all nodes of attention has the CPU engine's bits", "[run]") {
    cpu::CpuEngine engine(2);
    GraphRunner graphs;
    int compared = 0;
    for (const auto& [name, problem] : all_problems()) {
        INFO(name);
        const std::optional<Trace> expected = engine_trace(engine, problem);
        if (!expected)
            continue;
        const run::RunPtr run = graphs.run(problem, all_stages(problem));
        CHECK(difference_in_bits(trace_of(*run, problem), *expected) == "");
        CHECK(run->plan().evaluated().empty());
        ++compared;
    }
    CHECK(compared >= 60);
}

TEST_CASE("the bits do not depend on the captures", "[run]") {
    cpu::CpuEngine engine(2);
    GraphRunner graphs;
    for (const auto& [name, problem] : all_problems()) {
        INFO(name);
        const std::optional<Trace> expected = engine_trace(engine, problem);
        if (!expected)
            continue;
        for (const char* stage : {"scores", "scaled", "masked", "weights", "weights_mean", "head_out",
                                  "concat", "contributions", "output"}) {
            INFO(stage);
            const run::RunPtr run = graphs.run(problem, {{stage}});
            CHECK(same_bits(*(*run)[stage], *expected->stage(*find_stage(stage))));
            for (const TensorInfo& other : stages_of(problem.parts()))
                if (other.name != stage && other.id != TensorId::x)
                    CHECK(run->tensor(run->graph().find(other.name)) == nullptr);
        }
    }
}

TEST_CASE("a run that captures the output holds no scores in memory", "[run]") {
    Numbers numbers(3);
    constexpr std::int64_t T = 256, H = 4;
    const Problem problem =
        generate({.Tq = T, .Tk = T, .D = 16, .Dkv = 16, .H = H, .Hkv = H, .dk = 4, .dv = 4}, {}, numbers);
    GraphRunner graphs;
    const auto bytes = [&](const char* node) { return graphs.run(problem, {{node}})->plan().bytes(); };
    CHECK(bytes("output") < sizeof(float) * T * T);
    CHECK(bytes("weights") >= sizeof(float) * H * T * T);
    const graph::Part row{"weights", {{"H", {1, 1}}, {"Tq", {200, 1}}}};
    CHECK(graphs.run(problem, {row})->plan().bytes() < sizeof(float) * T * T);
}

TEST_CASE("an edit recomputes the same heads whether the graph is the same or another one of equal names",
          "[run][rerun]") {
    cpu::CpuEngine engine(2);
    GraphRunner graphs;
    Numbers numbers(8);
    using enum TensorId;
    for (const auto& [name, problem] : problems_of_every_feature()) {
        const Trace before = engine.run(problem);
        const run::RunPtr previous = graphs.run(problem, all_stages(problem));
        for (const TensorId id : {x, x_kv, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, q_norm, k_norm, q_norm_all,
                                  k_norm_all, v_norm, sink}) {
            if (problem.input(id) == nullptr)
                continue;
            INFO(name << " " << tensor_info(id).name);
            Problem edited = problem;
            TensorPtr& slot = *edited.input_slot(id);
            slot = with_cell(*slot, numbers.whole(0, slot->count() - 1), 0.75F);
            Progress progress;
            const Trace expected = engine.rerun(edited, problem, before, progress);
            const ProblemGraph built = graph_of(edited);
            // By the names of another graph, and by the same graph with another leaf.
            std::vector<run::RunPtr> runs{graphs.run(built, all_stages(edited), previous)};
            runs.push_back(graphs.run({previous->graph(), built.leaves}, all_stages(edited), previous));
            for (const run::RunPtr& run : runs) {
                const Trace got = trace_of(*run, edited);
                CHECK(difference_in_bits(got, expected) == "");
                CHECK(got.computed == expected.computed);
            }
        }
        INFO(name);
        Problem edited = problem;
        edited.gains.resize(static_cast<std::size_t>(problem.dims.H), 1.0F);
        edited.gains[1] = 0.25F;
        Progress progress;
        const Trace expected = engine.rerun(edited, problem, before, progress);
        const Trace got = trace_of(*graphs.run(edited, all_stages(edited), previous), edited);
        CHECK(difference_in_bits(got, expected) == "");
        CHECK(got.computed == expected.computed);
    }
}

TEST_CASE("an edit after a run with few captures has the bits of a run from scratch", "[run][rerun]") {
    GraphRunner graphs;
    for (const auto& [name, problem] : problems_of_every_feature())
        for (const std::vector<graph::Part>& captures :
             {std::vector<graph::Part>{{"output"}}, std::vector<graph::Part>{{"weights"}, {"output"}},
              std::vector<graph::Part>{{"scores"}, {"head_out"}},
              std::vector<graph::Part>{{"q_heads"}, {"contributions"}},
              std::vector<graph::Part>{{"weights", {{"H", {1, 1}}}}, {"concat"}},
              std::vector<graph::Part>{{"contributions", {{"H", {1, 2}}, {"Tq", {1, 1}}}},
                                       {"scores", {{"H", {3, 1}}, {"Tk", {1, 2}}}},
                                       {"scores", {{"H", {1, 1}}, {"Tq", {2, 1}}}}}}) {
            INFO(name << " " << captures.front().node);
            const ProblemGraph built = graph_of(problem);
            const run::RunPtr previous = graphs.run(built, captures);
            for (const char* leaf : {"W_Q", "W_V", "W_O", "gain"}) {
                INFO(leaf);
                ProblemGraph edited = built;
                edited.leaves[leaf] = with_cell(*built.leaves.at(leaf), 0, 0.3F);
                const run::RunPtr shared = graphs.run(edited, captures, previous),
                                  scratch = graphs.run(edited, captures);
                for (const graph::Part& part : captures)
                    CHECK(same_bits(*shared->part(part), *scratch->part(part)));
            }
        }
}

TEST_CASE("nothing is computed again when nothing changed", "[run][rerun]") {
    GraphRunner graphs;
    const Problem problem = problems_of_every_feature().at("plain");
    const ProblemGraph built = graph_of(problem);
    const run::RunPtr previous = graphs.run(built, {{"weights"}, {"output"}});
    const run::RunPtr again = graphs.run(built, {{"weights"}, {"output"}}, previous);
    CHECK((*again)["output"] == (*previous)["output"]);
    CHECK((*again)["weights"] == (*previous)["weights"]);
    for (const graph::Node& node : built.graph.nodes())
        CHECK(again->computed(built.graph.find(node.name)) == 0);
    CHECK(again->plan_ptr() == previous->plan_ptr());
}

TEST_CASE("an intervention on a leaf equals an edit of the leaf", "[run][intervention]") {
    GraphRunner graphs;
    const Problem problem = problems_of_every_feature().at("plain");
    const ProblemGraph built = graph_of(problem);
    for (const char* leaf : {"x", "W_K", "gain"}) {
        INFO(leaf);
        ProblemGraph edited = built;
        edited.leaves[leaf] = with_cell(*built.leaves.at(leaf), 0, 0.3F);
        std::map<std::string, graph::Range> first;
        for (const graph::Axis& axis : built.graph[leaf].axes)
            first[axis.name] = {0, 1};
        const run::RunPtr changed = graphs.run(built, {{"output"}}, nullptr, {set_number(leaf, first, 0.3F)});
        CHECK(same_bits(*(*changed)["output"], *(*graphs.run(edited, {{"output"}}))["output"]));
    }
}

TEST_CASE("an intervention changes what later nodes read", "[run][intervention]") {
    GraphRunner graphs;
    for (const char* name : {"plain", "causal", "cap", "padding", "rotary", "sink"}) {
        const Problem problem = problems_of_every_feature().at(name);
        const ProblemGraph built = graph_of(problem);
        const std::vector<graph::Part> all = all_stages(problem);
        const run::RunPtr plain = graphs.run(built, all);
        for (const TensorInfo& info : stages_of(problem.parts())) {
            INFO(name << " " << info.name);
            const std::string node(info.name);
            const Tensor& numbers = *(*plain)[node];
            // Adding nothing changes nothing: the steps of attention are split at the node without other
            // bits.
            const run::RunPtr same = graphs.run(built, all, nullptr,
                                                {{.part = {node},
                                                  .kind = run::Intervention::Kind::scale,
                                                  .values = make_tensor({}, std::array{1.0F})}});
            CHECK(difference_in_bits(trace_of(*same, problem), trace_of(*plain, problem)) == "");
            // Its own numbers from another run, as a patch.
            const run::RunPtr patched =
                graphs.run(built, {{"output"}}, nullptr, {{.part = {node}, .values = (*plain)[node]}});
            CHECK(same_bits(*(*patched)["output"], *(*plain)["output"]));
            // Zero for the first head, or for all: later nodes in double precision agree.
            std::map<std::string, graph::Range> part;
            if (built.graph[node].axes.find("H"))
                part["H"] = {0, 1};
            if (node == "scores" || node == "scaled" || node == "weights_mean" || node == "contributions")
                continue;
            const run::RunPtr zeroed = graphs.run(built, all, nullptr, {set_number(node, part, 0.0F)});
            std::vector<float> expected(numbers.values().begin(), numbers.values().end());
            const run::HeadAxis heads = run::head_axis(built.graph[node].axes);
            for (std::int64_t offset = 0; offset < numbers.count(); ++offset)
                if (part.empty() || numbers.shape().index(offset)[static_cast<std::size_t>(heads.axis)] == 0)
                    expected[static_cast<std::size_t>(offset)] = 0;
            CHECK(same_bits(*(*zeroed)[node], *make_tensor(numbers.shape(), expected)));
            // With a previous run: the same bits, whatever is shared.
            const run::RunPtr shared = graphs.run(built, all, plain, {set_number(node, part, 0.0F)});
            CHECK(difference_in_bits(trace_of(*shared, problem), trace_of(*zeroed, problem)) == "");
            const run::RunPtr undone = graphs.run(built, all, shared);
            CHECK(difference_in_bits(trace_of(*undone, problem), trace_of(*plain, problem)) == "");
        }
    }
}

TEST_CASE("an intervention on weights reaches the values of keys that the mask excludes",
          "[run][intervention]") {
    GraphRunner graphs;
    const Problem problem = problems_of_every_feature().at("causal");
    const ProblemGraph built = graph_of(problem);
    const run::RunPtr run = graphs.run(
        built, {{"head_out"}, {"v_heads"}}, nullptr,
        {set_number("weights", {}, 0.0F),
         set_number("weights", {{"B", {0, 1}}, {"H", {1, 1}}, {"Tq", {0, 1}}, {"Tk", {2, 1}}}, 1.0F)});
    for (std::int64_t c = 0; c < problem.dims.dv; ++c)
        CHECK((*run)["head_out"]->at(0, 1, 0, c) == (*run)["v_heads"]->at(0, 0, 2, c));
}

TEST_CASE("a captured part is that part of the node", "[run]") {
    GraphRunner graphs;
    const Problem problem = problems_of_every_feature().at("causal");
    const run::RunPtr whole = graphs.run(problem, {{"weights"}});
    const graph::Part part{"weights", {{"H", {2, 1}}, {"Tq", {1, 2}}}};
    const run::RunPtr some = graphs.run(problem, {part});
    CHECK(same_bits(*some->part(part), *whole->part(part)));
    CHECK(some->part(part)->shape() == Shape{2, 1, 2, 3});
    CHECK(some->plan().bytes() < whole->plan().bytes());
    CHECK(input_error([&] { static_cast<void>((*some)["weights"]); }) ==
          "weights was not captured; add it to the captures of the run");
}

TEST_CASE("a part of each stage has the bits of the whole stage", "[run]") {
    GraphRunner graphs;
    for (const auto& [name, problem] : problems_of_every_feature()) {
        const run::RunPtr whole = graphs.run(problem, all_stages(problem));
        for (const char* stage : {"scores", "scaled", "masked", "weights", "head_out", "contributions"})
            for (const graph::Range heads : {graph::Range{0, 1}, graph::Range{1, 3}})
                for (const graph::Range rows : {graph::Range{0, 1}, graph::Range{1, 2}, graph::Range{2, 1}}) {
                    INFO(name << " " << stage << " " << heads.first << " " << rows.first);
                    const graph::Part part{stage, {{"B", {1, 1}}, {"H", heads}, {"Tq", rows}}};
                    const run::RunPtr some = graphs.run(problem, {part});
                    CHECK(same_bits(*some->part(part), *whole->part(part)));
                    const run::RunPtr with_output = graphs.run(problem, {part, {"output"}});
                    CHECK(same_bits(*with_output->part(part), *whole->part(part)));
                    CHECK(same_bits(*(*with_output)["output"], *(*whole)["output"]));
                }
    }
}

TEST_CASE("captures and interventions that do not fit are refused with the node's name", "[run]") {
    GraphRunner graphs;
    const ProblemGraph built = graph_of(problems_of_every_feature().at("plain"));
    const auto error = [&](const std::vector<graph::Part>& captures, const run::Interventions& changes) {
        return input_error([&] { graphs.run(built, captures, nullptr, changes); });
    };
    CHECK(error({{"wieghts"}}, {}).starts_with("there is no node wieghts; the nearest names are weights"));
    CHECK(error({{"output", {{"H", {}}}}}, {}) == "output has no axis H; it has B, Tq, D");
    CHECK(error({{"output"}}, {set_number("wieghts", {}, 0)})
              .starts_with("there is no node wieghts; the nearest names are weights"));
    CHECK(error({{"output"}}, {set_number("weights", {{"H", {4, 1}}}, 0)}) ==
          "weights has 4 entries along H, and 4 to 4 are not among them");
    CHECK(error({{"output"}}, {{.part = {"weights"}, .values = make_tensor({2}, std::array{1.0F, 2.0F})}}) ==
          "the values of the intervention on weights have shape (2); they should have (2, 4, 3, 3)");
    CHECK(error({{"output"}}, {{.part = {"weights", {{"H", {0, 1}}}}, .values = nullptr}}) ==
          "the intervention on weights has no values; give a tensor of shape (2, 1, 3, 3)");
}

TEST_CASE("numbers outside float32's range are refused with the CPU engine's sentences", "[run]") {
    cpu::CpuEngine engine(2);
    GraphRunner graphs;
    using enum TensorId;
    for (const auto& [name, problem] : problems_of_every_feature())
        for (const TensorId id : {x, W_Q, W_V, W_O}) {
            INFO(name << " " << tensor_info(id).name);
            Problem large = problem;
            TensorPtr& slot = *large.input_slot(id);
            slot = std::make_shared<const Tensor>(slot->shape(), 3e38F);
            const std::string expected = input_error([&] { engine.run(large); });
            CHECK(input_error([&] { graphs.run(large, all_stages(large)); }) == expected);
        }
}

TEST_CASE("an operation without a kernel is evaluated in double precision", "[run]") {
    graph::Builder g;
    const graph::Axes axes{{"B", 1}, {"Tq", 2}, {"D", 3}};
    const auto label = [](const char* name) { return graph::Label{name, untranslated("a"), "a"}; };
    // The kernel adds arrays of one shape.
    const graph::Axes one{{"D", 3}};
    const graph::Value a = g.input(label("a"), axes), b = g.input(label("b"), one);
    g.add(label("sum"), {a, b});
    const graph::Graph graph = g.finish();
    cpu::CpuBackend backend(cpu::make_cpu_machine(1));
    Progress progress;
    const run::Leaves leaves = run::Leaves::of(
        graph, {{"a", make_tensor(axes.shape(), std::array{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F})},
                {"b", make_tensor(one.shape(), std::array{2.0F, 3.0F, 4.0F})}});
    const run::RunPtr run = run::run(graph, leaves, {.captures = {{"sum"}}}, backend, progress);
    CHECK((*run)["sum"]->at(0, 1, 2) == 10.0F);
    CHECK(run->plan().evaluated() == std::vector{graph.find("sum")});
}

TEST_CASE("a cancelled run stops", "[run]") {
    const ProblemGraph built = graph_of(problems_of_every_feature().at("plain"));
    cpu::CpuBackend backend(cpu::make_cpu_machine(1));
    Progress progress;
    progress.cancel();
    CHECK(error_kind([&] {
              run::run(built.graph, run::Leaves::of(built.graph, built.leaves), {.captures = {{"output"}}},
                       backend, progress);
          }) == ErrorKind::cancelled);
}
