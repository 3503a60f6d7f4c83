#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>

using namespace headscope;

namespace {

Problem capped_problem(float cap) {
    Numbers numbers(1);
    Problem problem =
        generate({.B = 2, .Tq = 9, .Tk = 9, .D = 12, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 6, .dv = 3},
                 {.biases = true, .temperature = 0.5F}, numbers);
    problem.mask = {CausalMask{}};
    problem.score_cap = cap;
    return problem;
}

} // namespace

TEST_CASE("a soft cap bounds the scaled scores, and the engine meets the reference") {
    const Problem problem = capped_problem(1.5F);
    cpu::CpuEngine engine(2);
    const Trace trace = engine.engine::Engine::run(problem);
    CHECK(difference(trace, reference_trace(problem)) == "");
    const auto scores = trace.stage(TensorId::scores)->values(),
               scaled = trace.stage(TensorId::scaled)->values();
    CHECK(std::ranges::all_of(scaled, [](float score) { return std::abs(score) < 1.5F; }));
    const float first = scores[0] / std::sqrt(6.0F) / 0.5F;
    CHECK(scaled[0] == Approx(1.5F * std::tanh(first / 1.5F)).epsilon(1e-6));
}

TEST_CASE("a soft cap below 0 is named") {
    CHECK_THAT(input_error([] { validate(capped_problem(-1)); }), Catch::Contains("soft cap"));
}
