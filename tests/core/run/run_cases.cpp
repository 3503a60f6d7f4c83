#include "tests/core/run/run_cases.h"

#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <tuple>

namespace headscope::test {

run::RunPtr GraphRunner::run(const ProblemGraph& problem, const std::vector<graph::Part>& captures,
                             const run::RunPtr& previous, const run::Interventions& interventions) {
    Progress progress;
    return run::run(problem.graph, run::Leaves::of(problem.graph, problem.leaves),
                    {.captures = captures, .interventions = interventions, .previous = previous}, backend_,
                    progress);
}

run::RunPtr GraphRunner::run(const Problem& problem, const std::vector<graph::Part>& captures,
                             const run::RunPtr& previous) {
    return run(graph_of(problem), captures, previous);
}

std::vector<graph::Part> all_stages(const Problem& problem) {
    std::vector<graph::Part> captures;
    for (const TensorInfo& info : stages_of(problem.parts()))
        captures.push_back({std::string(info.name)});
    return captures;
}

Trace trace_of(const run::Run& run, const Problem& problem) {
    Trace trace{.dims = problem.dims,
                .stages = {},
                .fully_masked = {},
                .device = "cpu",
                .seconds = 0,
                .computed = DirtySet::all(problem.dims.H, StageSet()),
                .parts = problem.parts()};
    for (const TensorInfo& info : stages_of(problem.parts())) {
        const std::optional<graph::NodeId> id = run.graph().try_find(info.name);
        if (!id)
            continue;
        trace.slot(info.id) = run.tensor(*id);
        const HeadAxis heads = head_axis(info, problem.dims);
        const std::int64_t count = heads.kv ? problem.dims.Hkv : problem.dims.H;
        const run::HeadSet computed = run.computed(*id);
        if (heads.axis < 0 && computed != 0)
            trace.computed.whole = trace.computed.whole.with(info.id);
        for (std::int64_t h = 0; heads.axis >= 0 && h < count; ++h)
            if ((computed & run::head_bit(h, count)) != 0) {
                StageSet& of_head = trace.computed.heads[static_cast<std::size_t>(h)];
                of_head = of_head.with(info.id);
            }
    }
    for (const run::EmptyRow& row : run.empty_rows())
        trace.fully_masked.push_back({row.b, row.h, row.i});
    return trace;
}

std::string difference_in_bits(const Trace& got, const Trace& expected) {
    if (got.fully_masked != expected.fully_masked)
        return "fully masked rows";
    return bitwise_difference(got, expected);
}

std::map<std::string, Problem> problems_of_every_feature() {
    constexpr Dims dims{.B = 2, .Tq = 3, .Tk = 3, .D = 5, .Dkv = 5, .H = 4, .Hkv = 2, .dk = 4, .dv = 3};
    constexpr Features biased{.biases = true, .gains = true};
    Numbers numbers(21);
    const auto plain = [&] { return generate(dims, biased, numbers); };
    std::map<std::string, Problem> problems{{"plain", plain()}};
    problems["no biases"] = generate(dims, {}, numbers);
    Dims cross = dims;
    cross.Tk = 5;
    cross.Dkv = 6;
    problems["cross"] = generate(cross, biased, numbers, true);
    (problems["temperature"] = plain()).temperature = 0.5F;
    (problems["limit"] = plain()).qkv_limit = 0.5F;
    (problems["cap"] = plain()).score_cap = 2.0F;
    problems["cap and temperature"] = problems["cap"];
    problems["cap and temperature"].temperature = 1.5F;
    (problems["sink"] = plain()).weights.sink = numbers.tensor({dims.H}, 1);
    Problem& normed = problems["head norm"] = plain();
    normed.weights.q_norm = numbers.tensor({dims.dk}, 1);
    normed.weights.k_norm = numbers.tensor({dims.dk}, 1);
    problems["value norm"] = problems["head norm"];
    problems["value norm"].weights.v_norm = numbers.tensor({dims.dv}, 1);
    Problem& joint = problems["joint norm"] = plain();
    joint.weights.q_norm_all = numbers.tensor({dims.H * dims.dk}, 1);
    joint.weights.k_norm_all = numbers.tensor({dims.Hkv * dims.dk}, 1);
    (problems["rotary"] = plain()).rotary =
        Rotary{numbers.tensor({1, dims.Tq, dims.dk}, 1), numbers.tensor({1, dims.Tq, dims.dk}, 1)};
    problems["head norm and rotary"] = problems["head norm"];
    problems["head norm and rotary"].rotary =
        Rotary{numbers.tensor({2, dims.Tq, dims.dk}, 1), numbers.tensor({2, dims.Tq, dims.dk}, 1)};
    (problems["causal"] = plain()).mask = {CausalMask{}};
    (problems["window"] = plain()).mask = {SlidingWindowCausalMask{2}};
    (problems["symmetric window"] = plain()).mask = {SlidingWindowSymmetricMask{1}};
    (problems["added mask"] = plain()).mask = {AdditiveMask{numbers.tensor({1, 4, 3, 3}, 1)}, CausalMask{}};
    (problems["padding"] = plain()).mask = {KeyPaddingMask{numbers.bools({2, 3}, 40)}};
    (problems["explicit mask"] = plain()).mask = {ExplicitMask{numbers.bools({2, 4, 3, 3}, 50)}};
    Dims relative = dims;
    relative.Hkv = relative.H;
    relative.distances = 6;
    for (const auto& [name, c2p, p2c] :
         {std::tuple("relative positions", true, true), {"c2p", true, false}, {"p2c", false, true}})
        problems[name] = generate(relative,
                                  {.biases = c2p,
                                   .gains = true,
                                   .relative = RelativeTerms{{.span = 3}, c2p, p2c},
                                   .own_positions = !p2c},
                                  numbers);
    problems["relative positions with own weights"] =
        generate(relative,
                 {.biases = true,
                  .relative = RelativeTerms{{.span = 3, .buckets = 3, .furthest = 4}, true, true},
                  .own_positions = true},
                 numbers);
    return problems;
}

} // namespace headscope::test
