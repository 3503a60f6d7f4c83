#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"
#include "tests/support.h"

using namespace headscope;
using Catch::Contains;

namespace {

Problem normed_problem(std::uint64_t seed) {
    Numbers numbers(seed);
    const Dims dims{.B = 2, .Tq = 9, .Tk = 9, .D = 12, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 6, .dv = 3};
    Problem problem = generate(dims, {.biases = true}, numbers);
    problem.weights.q_norm = numbers.tensor({6}, 1);
    problem.weights.k_norm = numbers.tensor({6}, 1);
    problem.norm_eps = 0.01F;
    return problem;
}

} // namespace

TEST_CASE("the norm divides a head's row by its root mean square and multiplies by the weights") {
    Problem problem;
    problem.dims = {.B = 1, .Tq = 1, .Tk = 1, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2};
    problem.x = make_tensor({1, 1, 4}, std::vector<float>{1, 7, 3, -4});
    const TensorPtr identity =
        make_tensor({4, 4}, std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    problem.weights.W_Q = problem.weights.W_K = problem.weights.W_V = problem.weights.W_O = identity;
    problem.weights.q_norm = make_tensor({2}, std::vector<float>{1, 2});
    problem.weights.k_norm = make_tensor({2}, std::vector<float>{1, 1});
    problem.norm_eps = 1e-12F;
    cpu::CpuEngine engine(1);
    for (const Trace& trace : {engine.engine::Engine::run(problem), reference_trace(problem)}) {
        // Mean squares: (1 + 49) / 2 = 25 and (9 + 16) / 2 = 12.5.
        const std::vector<float> wanted{0.2F, 2.8F, 0.8485281F, -2.2627417F};
        for (const TensorId id : {TensorId::q_normed, TensorId::q_heads})
            for (std::size_t n = 0; n < wanted.size(); ++n)
                CHECK(trace.stage(id)->values()[n] == Approx(wanted[n]).epsilon(1e-6));
        CHECK(trace.stage(TensorId::k_heads)->values()[1] == Approx(1.4F).epsilon(1e-6));
        CHECK(trace.stage(TensorId::v_heads)->values()[1] == 7);
    }
}

TEST_CASE("the CPU engine meets the reference with norms on queries and keys, rotated or not") {
    cpu::CpuEngine engine(2);
    Problem problem = normed_problem(1);
    for (const bool rotary : {false, true}) {
        Numbers numbers(3);
        if (rotary)
            problem.rotary = Rotary{numbers.tensor({1, 9, 6}, 1), numbers.tensor({1, 9, 6}, 1)};
        const Trace expected = reference_trace(problem);
        CHECK(difference(engine.engine::Engine::run(problem), expected) == "");
        Progress progress;
        const Trace few = engine.run(problem, StageSet().with(TensorId::q_normed), progress);
        CHECK(difference(few.stage(TensorId::q_normed), *expected.stage(TensorId::q_normed)) == "");
        CHECK(few.stage(TensorId::q_heads) == nullptr);
    }
}

TEST_CASE("a norm on the queries alone, of another width, or with an epsilon of 0 is named") {
    Problem problem = normed_problem(2);
    problem.weights.k_norm = nullptr;
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("k_norm is missing") && Contains("(6)"));
    problem = normed_problem(2);
    problem.weights.q_norm = make_tensor({5}, std::vector<float>(5, 1));
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("q_norm has shape (5)") && Contains("dk"));
    problem = normed_problem(2);
    problem.norm_eps = 0;
    CHECK_THAT(input_error([&] { validate(problem); }), Contains("above 0"));
}

TEST_CASE("queries whose mean square leaves float32's range are named") {
    Problem problem = normed_problem(4);
    const Tensor& W_Q = *problem.weights.W_Q;
    auto large = std::make_shared<Tensor>(W_Q.shape(), W_Q.values());
    for (float& value : large->values())
        value *= 1e25F;
    problem.weights.W_Q = large;
    cpu::CpuEngine engine(1);
    CHECK_THAT(input_error([&] { engine.engine::Engine::run(problem); }),
               Contains("q_normed leaves float32's range"));
}
