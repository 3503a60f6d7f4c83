#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/reference.h"

#include <algorithm>
#include <cmath>

using namespace headscope;

namespace {

void check_none(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        FAIL_CHECK(line);
    CHECK(lines.empty());
}

std::vector<ConformanceCase> with_answers(std::vector<ConformanceCase> cases) {
    for (ConformanceCase& one : cases)
        one.expected = reference_trace(one.problem);
    return cases;
}

} // namespace

TEST_CASE("the golden cases are all there, with what PyTorch says of them") {
    const auto cases = golden_cases();
    CHECK(cases.size() >= 31); // 20 of mha, 10 of them with rules in words as well, and the cat
    const auto masked = std::ranges::count_if(
        cases, [](const ConformanceCase& one) { return !one.expected.fully_masked.empty(); });
    CHECK(masked >= 5);
    for (const ConformanceCase& one : cases)
        for (const TensorId stage :
             {TensorId::q, TensorId::k, TensorId::v, TensorId::scaled, TensorId::masked, TensorId::weights,
              TensorId::weights_mean, TensorId::head_out, TensorId::concat, TensorId::output}) {
            INFO(one.name << " " << tensor_info(stage).name);
            CHECK(one.expected.stage(stage) != nullptr);
        }
}

TEST_CASE("the reference meets the golden cases") {
    check_none(failures(golden_cases(), reference_trace));
}

TEST_CASE("the CPU engine meets the golden cases") {
    cpu::CpuEngine engine;
    check_none(failures(golden_cases(), engine));
}

TEST_CASE("the CPU engine meets the small golden cases, on emulated processors too", "[processor]") {
    auto cases = golden_cases();
    std::erase_if(cases, [](const ConformanceCase& one) { return one.problem.dims.D > 64; });
    REQUIRE(cases.size() >= 29);
    cpu::CpuEngine engine;
    check_none(failures(cases, engine));
}

TEST_CASE("the CPU engine meets the reference on generated cases") {
    cpu::CpuEngine engine(3);
    check_none(failures(with_answers(generated_cases()), engine));
}

TEST_CASE("the CPU engine meets the reference where head outputs have a gate") {
    cpu::CpuEngine engine(3);
    check_none(failures(with_answers(gated_cases()), engine));
}

TEST_CASE("the CPU engine meets the reference where values have a norm") {
    cpu::CpuEngine engine(3);
    check_none(failures(with_answers(value_norm_cases()), engine));
}

TEST_CASE("the CPU engine meets the reference where queries are scaled and masks have chunks") {
    cpu::CpuEngine engine(3);
    check_none(failures(with_answers(chunked_cases()), engine));
}

TEST_CASE("the CPU engine meets the reference where scores have terms by relative position") {
    cpu::CpuEngine engine(3);
    check_none(failures(with_answers(relative_cases()), engine));
}

TEST_CASE("generated cases reach the features they are meant for") {
    const auto cases = generated_cases();
    const auto some = [&](auto&& has) { return std::ranges::any_of(cases, has); };
    for (std::size_t kind = 0; kind < std::variant_size_v<MaskRule>; ++kind)
        if (kind != MaskRule(ChunkedCausalMask{}).index()) // see chunked_cases
            CHECK(some([&](const ConformanceCase& c) {
                return std::ranges::any_of(c.problem.mask,
                                           [&](const MaskRule& rule) { return rule.index() == kind; });
            }));
    CHECK(some([](const ConformanceCase& c) { return c.problem.dims.Tq < c.problem.dims.Tk; }));
    CHECK(some([](const ConformanceCase& c) { return c.problem.dims.Tq > c.problem.dims.Tk; }));
    CHECK(some([](const ConformanceCase& c) { return c.problem.dims.dk != c.problem.dims.dv; }));
    CHECK(some([](const ConformanceCase& c) { return c.problem.dims.Hkv == 1 && c.problem.dims.H > 1; }));
    CHECK(some([](const ConformanceCase& c) {
        return c.problem.dims.Hkv > 1 && c.problem.dims.Hkv < c.problem.dims.H;
    }));
    CHECK(some([](const ConformanceCase& c) { return c.problem.mask.size() > 2; }));
    CHECK(some([](const ConformanceCase& c) {
        const Trace trace = reference_trace(c.problem);
        return std::ranges::any_of(trace.stage(TensorId::scaled)->values(),
                                   [](float v) { return std::abs(v) > 1e28F; });
    }));
}
