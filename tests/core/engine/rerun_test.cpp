#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"

#include <cmath>
#include <rapidcheck/catch.h>
#include <set>
#include <string>

using namespace headscope;
using namespace headscope::engine;

namespace {

constexpr Dims lesson_dims{.B = 1, .Tq = 4, .Tk = 4, .D = 8, .Dkv = 8, .H = 4, .Hkv = 2, .dk = 2, .dv = 2};

Problem problem_of(const Dims& dims, bool cross = false) {
    Numbers numbers(11);
    return generate(dims, {.biases = true, .gains = true}, numbers, cross);
}

void set_cell(Problem& problem, TensorId id, std::int64_t offset, float value) {
    TensorPtr& slot = *problem.input_slot(id);
    Tensor changed(slot->shape(), slot->values());
    changed.data()[offset] = value;
    slot = std::make_shared<const Tensor>(std::move(changed));
}

/// One random change of any input.
void edit(Problem& problem, Numbers& numbers) {
    using enum TensorId;
    const Dims& d = problem.dims;
    const auto kind = numbers.whole(0, 18);
    constexpr std::array cells{x, x_kv, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O, sink, q_norm_all, k_norm_all};
    if (kind >= 16 || kind < 10) {
        const TensorId id = cells[static_cast<std::size_t>(kind < 10 ? kind : kind - 6)];
        if (const Tensor* tensor = problem.input(id); tensor != nullptr)
            set_cell(problem, id, numbers.whole(0, tensor->count() - 1), numbers.real());
    } else if (kind == 10) {
        problem.gains.resize(static_cast<std::size_t>(d.H), 1.0F);
        problem.gains[static_cast<std::size_t>(numbers.whole(0, d.H - 1))] = numbers.real();
    } else if (kind == 11) {
        problem.temperature = 1.5F + numbers.real();
        problem.score_cap = numbers.chance(50) ? 0.0F : 1.5F + numbers.real();
        problem.qkv_limit = numbers.chance(50) ? 0.0F : 1.5F + numbers.real();
    } else if (kind == 12) {
        problem.mask.clear();
        for (std::int64_t rule = numbers.whole(0, 2); rule > 0; --rule)
            problem.mask.push_back(
                generate_rule(static_cast<int>(numbers.whole(0, rule_kinds - 1)), d, numbers));
    } else if (kind == 13) {
        const bool has = numbers.chance(70), joint = numbers.chance(50);
        Weights& w = problem.weights;
        w.q_norm = has && !joint ? numbers.tensor({d.dk}, 1) : nullptr;
        w.k_norm = has && !joint ? numbers.tensor({d.dk}, 1) : nullptr;
        w.q_norm_all = has && joint ? numbers.tensor({d.H * d.dk}, 1) : nullptr;
        w.k_norm_all = has && joint ? numbers.tensor({d.Hkv * d.dk}, 1) : nullptr;
    } else if (kind == 14) {
        problem.weights.sink = numbers.chance(70) ? numbers.tensor({d.H}, 2) : nullptr;
    } else if (!problem.cross() && d.dk % 2 == 0) {
        problem.rotary = numbers.chance(30)
                             ? std::nullopt
                             : std::optional(Rotary{
                                   numbers.tensor({numbers.chance(50) ? 1 : d.B, d.Tq, d.dk}, 1), nullptr});
        if (problem.rotary)
            problem.rotary->sin = numbers.tensor(problem.rotary->cos->shape(), 1);
    }
}

/// The names of the stages that were computed, with the heads of those that are divided.
std::set<std::string> computed(const DirtySet& dirty) {
    std::set<std::string> names;
    for (const TensorInfo& stage : stage_table()) {
        const std::string name(stage.name);
        if (dirty.whole.has(stage.id))
            names.insert(name);
        for (std::size_t h = 0; h < dirty.heads.size(); ++h)
            if (dirty.heads[h].has(stage.id))
                names.insert(name + " " + std::to_string(h));
    }
    return names;
}

std::set<std::string> reached(const Problem& problem, TensorId id, const Index& at) {
    Problem edited = problem;
    const std::int64_t offset = problem.input(id)->shape().offset(at);
    set_cell(edited, id, offset, problem.input(id)->data()[offset] + 1);
    cpu::CpuEngine engine(1);
    const Trace before = engine.run(problem);
    Progress progress;
    const Trace after = engine.rerun(edited, problem, before, progress);
    CHECK(bitwise_difference(after, engine.run(edited)) == "");
    // Stages that the edit does not reach are shared, not copied.
    for (const TensorInfo& stage : stage_table())
        if (!after.computed.stages().has(stage.id)) {
            const auto at_stage = static_cast<std::size_t>(stage.id);
            CHECK(after.stages[at_stage] == before.stages[at_stage]);
        }
    return computed(after.computed);
}

using NodeNames = std::set<std::string>;

const NodeNames from_scores_1{"scores 1",   "scaled 1", "masked 1",        "weights 1", "weights_mean",
                              "head_out 1", "concat 1", "contributions 1", "output"};

NodeNames with(NodeNames names, const NodeNames& more) {
    names.insert(more.begin(), more.end());
    return names;
}

} // namespace

TEST_CASE("an edit recomputes what it can reach, and no more") {
    using enum TensorId;
    const Problem problem = problem_of(lesson_dims);
    // Head 2 owns rows 4 and 5 of W_O.
    CHECK(reached(problem, W_O, {5, 3}) == NodeNames{"contributions 2", "output"});
    CHECK(reached(problem, b_O, {3}) == NodeNames{"output"});
    // Head 1 owns columns 2 and 3 of W_Q.
    CHECK(reached(problem, W_Q, {7, 2}) == with(from_scores_1, {"q 1", "q_heads 1"}));
    CHECK(reached(problem, b_Q, {3}) == with(from_scores_1, {"q 1", "q_heads 1"}));
    // Key/value head 1 is read by heads 2 and 3.
    const NodeNames values = reached(problem, W_V, {0, 3});
    CHECK(values == NodeNames{"v 1", "v_heads 1", "head_out 2", "head_out 3", "concat 2", "concat 3",
                              "contributions 2", "contributions 3", "output"});
    const NodeNames keys = reached(problem, W_K, {0, 3});
    CHECK(keys.size() == 2 + 2 * 7 + 2);
    CHECK(keys.contains("k 1"));
    CHECK(keys.contains("scores 2"));
    CHECK(keys.contains("scores 3"));
    CHECK_FALSE(keys.contains("scores 1"));
    // x is read by everything; a source of keys of its own is not read by the queries.
    CHECK(reached(problem, x, {0, 2, 1}).size() == 1 + 2 * 4 + 4 * 2 + 4 * 7 + 2);
    Problem crossed = problem_of(lesson_dims, true);
    CHECK_FALSE(reached(crossed, x_kv, {0, 2, 1}).contains("q 0"));
    CHECK_FALSE(reached(crossed, x, {0, 2, 1}).contains("k 0"));
}

TEST_CASE("an edit of relative positions recomputes the terms that read it, and no more") {
    using enum TensorId;
    Dims dims = lesson_dims;
    dims.Hkv = dims.H;
    dims.distances = 6;
    const RelativeTerms terms{{.span = 3}, true, true};
    Numbers numbers(12);
    const Problem shared = generate(dims, {.biases = true, .gains = true, .relative = terms}, numbers);
    const Problem own = generate(dims, {.biases = true, .relative = terms, .own_positions = true}, numbers);
    const NodeNames below_keys = with(from_scores_1, {"pos_keys 1", "c2p 1"}),
                    below_queries = with(from_scores_1, {"pos_queries 1", "p2c 1"});
    // Head 1 owns columns 2 and 3.
    CHECK(reached(own, W_KR, {7, 2}) == below_keys);
    CHECK(reached(own, b_KR, {3}) == below_keys);
    CHECK(reached(own, W_QR, {7, 2}) == below_queries);
    CHECK(reached(own, b_QR, {3}) == below_queries);
    // The query of head 1 is read by c2p, its key by p2c.
    CHECK(reached(own, W_Q, {7, 2}) == with(from_scores_1, {"q 1", "q_heads 1", "c2p 1"}));
    CHECK(reached(own, W_K, {7, 2}) == with(from_scores_1, {"k 1", "k_heads 1", "p2c 1"}));
    CHECK(reached(shared, W_Q, {7, 2}) == with(below_queries, {"q 1", "q_heads 1", "c2p 1"}));
    CHECK(reached(shared, b_K, {3}) == with(below_keys, {"k 1", "k_heads 1", "p2c 1"}));
    const NodeNames table = reached(shared, rel_positions, {5, 0});
    CHECK(table.size() == 4 * 11 + 2);
    CHECK_FALSE(table.contains("q_heads 0"));
}

TEST_CASE("terms by relative position: a trace made from the one before it equals a run from scratch") {
    using enum TensorId;
    constexpr std::array cells{x, rel_positions, W_Q, W_K, b_Q, b_K, W_KR, W_QR, b_KR, b_QR};
    constexpr RelativeRows rows[] = {{.span = 3}, {.span = 3, .buckets = 3, .furthest = 4}};
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Numbers numbers(seed);
        Dims dims{
            .B = 2, .Tq = 7, .Tk = 7, .D = 6, .Dkv = 6, .H = 3, .Hkv = 3, .dk = 4, .dv = 2, .distances = 6};
        Problem problem = generate(dims,
                                   {.biases = true,
                                    .relative = RelativeTerms{rows[seed % 2], true, true},
                                    .own_positions = seed % 4 > 1},
                                   numbers);
        cpu::CpuEngine engine(1);
        Progress progress;
        Trace trace = engine.run(problem);
        for (int step = 0; step < 30; ++step) {
            Problem edited = problem;
            const auto kind = numbers.whole(0, 4);
            if (kind < 2) {
                edit(edited, numbers);
            } else if (kind == 2 && seed % 4 < 2) {
                edited.relative->rows = rows[numbers.whole(0, 1)];
                edited.relative->c2p = numbers.chance(50);
                edited.relative->p2c = !edited.relative->c2p || numbers.chance(50);
            } else {
                const TensorId id = cells[static_cast<std::size_t>(numbers.whole(0, 9))];
                if (const Tensor* tensor = edited.input(id); tensor != nullptr)
                    set_cell(edited, id, numbers.whole(0, tensor->count() - 1), numbers.real());
            }
            trace = engine.rerun(edited, problem, trace, progress);
            problem = edited;
            INFO(seed << ", step " << step);
            CHECK(bitwise_difference(trace, engine.run(problem)) == "");
        }
    }
}

TEST_CASE("gains, temperature and masks reach their heads") {
    const Problem problem = problem_of(lesson_dims);
    Problem edited = problem;
    edited.gains[3] += 1;
    CHECK(computed(recomputed(problem, edited)) == NodeNames{"concat 3", "contributions 3", "output"});
    edited = problem;
    edited.temperature = 2;
    CHECK(computed(recomputed(problem, edited)).size() == 4 * 6 + 2);
    CHECK_FALSE(recomputed(problem, edited).stages().has(TensorId::scores));
    edited = problem;
    Tensor add(Shape{lesson_dims.H, lesson_dims.Tq, lesson_dims.Tk}, 0.0F);
    edited.mask = {AdditiveMask{std::make_shared<const Tensor>(add.shape(), add.values())}};
    Problem masked = edited;
    add.at(2, 1, 1) = -1;
    masked.mask = {AdditiveMask{std::make_shared<const Tensor>(add.shape(), add.values())}};
    CHECK(computed(recomputed(edited, masked)) == NodeNames{"masked 2", "weights 2", "weights_mean",
                                                            "head_out 2", "concat 2", "contributions 2",
                                                            "output"});
    // Other tensors that say the same.
    masked.mask = {AdditiveMask{std::make_shared<const Tensor>(add.shape(), 0.0F)}};
    CHECK(computed(recomputed(edited, masked)).empty());
    masked = problem;
    masked.weights.W_Q = make_tensor(problem.weights.W_Q->shape(), problem.weights.W_Q->values());
    CHECK(computed(recomputed(problem, masked)).empty());
}

TEST_CASE("a trace made from the one before it equals a run from scratch, bit for bit") {
    rc::prop("random problems, random edits", [] {
        Dims d;
        d.B = *rc::gen::inRange<std::int64_t>(1, 3);
        d.Tq = *rc::gen::inRange<std::int64_t>(1, 9);
        d.D = *rc::gen::inRange<std::int64_t>(1, 20);
        const bool cross = *rc::gen::arbitrary<bool>();
        d.Tk = cross ? *rc::gen::inRange<std::int64_t>(1, 9) : d.Tq;
        d.Dkv = cross ? *rc::gen::inRange<std::int64_t>(1, 10) : d.D;
        d.Hkv = *rc::gen::inRange<std::int64_t>(1, 4);
        d.H = d.Hkv * *rc::gen::inRange<std::int64_t>(1, 4);
        d.dk = *rc::gen::inRange<std::int64_t>(1, 9);
        d.dv = *rc::gen::inRange<std::int64_t>(1, 9);
        Numbers numbers(*rc::gen::arbitrary<std::uint64_t>());
        Problem problem =
            generate(d, {.biases = numbers.chance(50), .gains = numbers.chance(50)}, numbers, cross);
        cpu::CpuEngine engine(1);
        Progress progress;
        Trace trace = engine.run(problem);
        for (int step = 0; step < 12; ++step) {
            Problem edited = problem;
            for (std::int64_t edits = numbers.whole(1, 2); edits > 0; --edits)
                edit(edited, numbers);
            trace = engine.rerun(edited, problem, trace, progress);
            problem = edited;
            RC_ASSERT(bitwise_difference(trace, engine.run(problem)) == "");
        }
    });
}

TEST_CASE("several row tiles and threads change nothing of that") {
    constexpr Dims large{
        .B = 2, .Tq = 150, .Tk = 131, .D = 40, .Dkv = 24, .H = 6, .Hkv = 3, .dk = 7, .dv = 5};
    Numbers numbers(5);
    Problem problem = generate(large, {.biases = true}, numbers, true);
    cpu::CpuEngine engine(3), single(1);
    Progress progress;
    Trace trace = engine.run(problem);
    for (int step = 0; step < 40; ++step) {
        Problem edited = problem;
        edit(edited, numbers);
        trace = engine.rerun(edited, problem, trace, progress);
        problem = edited;
        CHECK(bitwise_difference(trace, single.run(problem)) == "");
    }
}

TEST_CASE("an edit of one of many heads, and a trace of another engine, change nothing of that") {
    constexpr Dims many{.B = 1, .Tq = 5, .Tk = 5, .D = 12, .Dkv = 12, .H = 130, .Hkv = 65, .dk = 2, .dv = 3};
    Numbers numbers(5);
    Problem problem = generate(many, {.biases = true}, numbers);
    cpu::CpuEngine engine(2), other(1);
    Progress progress;
    Trace trace = engine.run(problem);
    for (int step = 0; step < 20; ++step) {
        Problem edited = problem;
        edit(edited, numbers);
        trace = (step % 2 == 0 ? other : engine).rerun(edited, problem, trace, progress);
        problem = edited;
        CHECK(bitwise_difference(trace, engine.run(problem)) == "");
    }
    // A trace without some stages: those are computed.
    Problem edited = problem;
    set_cell(edited, TensorId::W_O, 0, 0.5F);
    trace.slot(TensorId::scores) = trace.slot(TensorId::concat) = nullptr;
    CHECK(bitwise_difference(engine.rerun(edited, problem, trace, progress), other.run(edited)) == "");
}

TEST_CASE("problems of more structures than are kept have their own graphs") {
    Numbers numbers(6);
    cpu::CpuEngine engine(1);
    for (int round = 0; round < 2; ++round)
        for (std::int64_t T = 1; T <= 20; ++T) {
            const Problem problem =
                generate({.B = 1, .Tq = T, .Tk = T, .D = 4, .Dkv = 4, .H = 2, .Hkv = 1, .dk = 2, .dv = 2}, {},
                         numbers);
            cpu::CpuEngine fresh(1);
            CHECK(bitwise_difference(engine.run(problem), fresh.run(problem)) == "");
        }
}

TEST_CASE("a run from scratch follows a change of sizes, and a bad edit is still refused") {
    Problem problem = problem_of(lesson_dims);
    cpu::CpuEngine engine(1);
    Progress progress;
    const Trace before = engine.run(problem);
    Problem other =
        problem_of({.B = 1, .Tq = 3, .Tk = 3, .D = 8, .Dkv = 8, .H = 4, .Hkv = 4, .dk = 2, .dv = 2});
    CHECK(engine.rerun(other, problem, before, progress).computed ==
          DirtySet::all(4, StageSet::of(other.parts())));
    Problem edited = problem;
    set_cell(edited, TensorId::W_Q, 0, NAN);
    CHECK_THROWS_WITH(engine.rerun(edited, problem, before, progress), Catch::Contains("W_Q[0, 0] is NaN"));
    set_cell(edited, TensorId::W_Q, 0, 1e20F);
    set_cell(edited, TensorId::x, 0, 1e20F);
    CHECK_THROWS_WITH(engine.rerun(edited, problem, before, progress),
                      Catch::Contains("leaves float32's range"));
}
