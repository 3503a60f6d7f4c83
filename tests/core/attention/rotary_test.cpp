#include "core/attention/regroup.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/reference.h"
#include "tests/support.h"

#include <cmath>
#include <limits>
#include <random>

using namespace headscope;
using Catch::Contains;

namespace {

TensorPtr random_tensor(const Shape& shape, unsigned seed) {
    std::mt19937 source(seed);
    std::normal_distribution<float> normal(0.0F, 0.5F);
    auto tensor = std::make_shared<Tensor>(shape);
    for (float& value : tensor->values())
        value = normal(source);
    return tensor;
}

/// Tables of any angles, one per pair, the same in both halves; (B, T, dk).
Rotary random_rotary(std::int64_t B, std::int64_t T, std::int64_t dk) {
    const TensorPtr angles = random_tensor({B, T, dk}, 9);
    auto cos = std::make_shared<Tensor>(Shape{B, T, dk}), sin = std::make_shared<Tensor>(Shape{B, T, dk});
    for (std::int64_t b = 0; b < B; ++b)
        for (std::int64_t i = 0; i < T; ++i)
            for (std::int64_t c = 0; c < dk; ++c) {
                const float angle = angles->at(b, i, c % (dk / 2));
                cos->at(b, i, c) = std::cos(angle);
                sin->at(b, i, c) = std::sin(angle);
            }
    return {cos, sin};
}

Problem grouped_problem(std::int64_t tables) {
    Problem problem;
    problem.dims = {.B = 2, .Tq = 70, .Tk = 70, .D = 12, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 6, .dv = 3};
    problem.x = random_tensor({2, 70, 12}, 1);
    problem.weights.W_Q = random_tensor({12, 24}, 2);
    problem.weights.W_K = random_tensor({12, 12}, 3);
    problem.weights.W_V = random_tensor({12, 6}, 4);
    problem.weights.W_O = random_tensor({12, 12}, 5);
    problem.weights.b_Q = random_tensor({24}, 6);
    problem.mask = {CausalMask{}};
    problem.rotary = random_rotary(tables, 70, 6);
    return problem;
}

} // namespace

TEST_CASE("a quarter turn moves each number to its partner half a head away") {
    Problem problem;
    problem.dims = {.B = 1, .Tq = 2, .Tk = 2, .D = 4, .Dkv = 4, .H = 1, .Hkv = 1, .dk = 4, .dv = 4};
    problem.x = make_tensor({1, 2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    const TensorPtr identity =
        make_tensor({4, 4}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    problem.weights = {.W_Q = identity,
                       .W_K = identity,
                       .W_V = identity,
                       .W_O = identity,
                       .b_Q = nullptr,
                       .b_K = nullptr,
                       .b_V = nullptr,
                       .b_O = nullptr};
    // Token 0 turns its second pair by 90 degrees, token 1 both.
    problem.rotary = Rotary{make_tensor({1, 2, 4}, std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0}),
                            make_tensor({1, 2, 4}, std::vector<float>{0, 1, 0, 1, 1, 1, 1, 1})};
    const std::vector<float> turned{1, -4, 3, 2, -7, -8, 5, 6};
    cpu::CpuEngine engine(1);
    for (const Trace& trace : {engine.engine::Engine::run(problem), reference_trace(problem)}) {
        const auto values = [&](TensorId id) {
            const auto span = trace.stage(id)->values();
            return std::vector<float>(span.begin(), span.end());
        };
        CHECK(values(TensorId::q_heads) == turned);
        CHECK(values(TensorId::k_heads) == turned);
        CHECK(values(TensorId::q) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
        CHECK(values(TensorId::v_heads) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
        CHECK(values(TensorId::scores) == std::vector<float>{30, 52, 52, 174});
    }
}

TEST_CASE("the CPU engine meets the reference with rotary tables, shared and per batch entry") {
    cpu::CpuEngine engine(2);
    for (const std::int64_t tables : {1, 2}) {
        const Problem problem = grouped_problem(tables);
        const Trace expected = reference_trace(problem);
        CHECK(difference(engine.engine::Engine::run(problem), expected) == "");
        // Stages that are not asked for don't change the ones that are.
        Progress progress;
        const Trace few =
            engine.run(problem, StageSet().with(TensorId::weights).with(TensorId::output), progress);
        CHECK(difference(few.stage(TensorId::weights), *expected.stage(TensorId::weights)) == "");
        CHECK(difference(few.stage(TensorId::output), *expected.stage(TensorId::output)) == "");
        CHECK(few.stage(TensorId::q_heads) == nullptr);
        const Trace keys = engine.run(problem, StageSet().with(TensorId::k_heads), progress);
        CHECK(difference(keys.stage(TensorId::k_heads), *expected.stage(TensorId::k_heads)) == "");
    }
}

TEST_CASE("rotary tables that do not fit are named") {
    Problem problem = grouped_problem(1);
    problem.rotary->cos = nullptr;
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("cos is missing"));
    problem.rotary = random_rotary(1, 69, 6);
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("(1, 69, 6)") && Contains("(1, 70, 6)"));
    problem.rotary = Rotary{random_rotary(1, 70, 6).cos, random_rotary(2, 70, 6).sin};
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("should be equal"));
    auto bad = std::make_shared<Tensor>(Shape{1, 70, 6}, std::numeric_limits<float>::infinity());
    problem.rotary = Rotary{random_rotary(1, 70, 6).cos, bad};
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("sin") && Contains("finite"));
    problem = grouped_problem(1);
    problem.dims.Hkv = 4;
    CHECK_THAT(input_error([&] { with_head_count(problem, 2); }), Contains("rotated by position"));
    problem = grouped_problem(1);
    problem.x_kv = random_tensor({2, 70, 12}, 8);
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("X_kv"));
}
