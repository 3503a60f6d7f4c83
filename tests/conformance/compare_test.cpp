#include "tests/conformance/compare.h"

#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/mask_by_definition.h"
#include "tests/conformance/reference.h"

#include <cmath>
#include <limits>

// The comparison that judges every engine has to see what is wrong.

using namespace headscope;
using Catch::Contains;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Of {0, 100, got} against {0, 100, expected}.
std::string judged(float got, float expected, const Tolerance& tolerance = {}) {
    const TensorPtr have = make_tensor({3}, std::vector<float>{0, 100, got});
    const TensorPtr want = make_tensor({3}, std::vector<float>{0, 100, expected});
    return difference(have.get(), *want, tolerance);
}

/// A trace with one number of one stage changed.
Trace spoiled(const Trace& trace, TensorId stage, std::int64_t offset, float value) {
    Trace other = trace;
    Tensor changed(trace.stage(stage)->shape(), trace.stage(stage)->values());
    changed.data()[offset] = value;
    other.slot(stage) = std::make_shared<const Tensor>(std::move(changed));
    return other;
}

/// A generated case with a key that is not allowed and a row that has several; rules of the first kind found.
const ConformanceCase& masked_case(const std::vector<ConformanceCase>& cases) {
    for (const ConformanceCase& one : cases)
        if (!one.problem.mask.empty() && one.problem.dims.Tk > 3) {
            const double second = mask_by_definition(one.problem.mask, one.problem.dims, 0, 0, 0, 1);
            const double first = mask_by_definition(one.problem.mask, one.problem.dims, 0, 0, 0, 0);
            if (std::isinf(second) && !std::isinf(first))
                return one;
        }
    throw std::logic_error("no generated case has a mask that forbids the second key of the first query");
}

} // namespace

TEST_CASE("two numbers meet within absolute + relative * largest, and not beyond", "[conformance]") {
    // 1e-5 + 1e-6 * 100 = 1.1e-4
    CHECK(judged(1.0F, 1.0F).empty());
    CHECK(judged(1.0001F, 1.0F).empty());
    CHECK_THAT(judged(1.00013F, 1.0F), Contains("[2] is 1.00013") && Contains("expected 1 within 0.00011"));
    CHECK_THAT(judged(0.99987F, 1.0F), Contains("[2]"));
    CHECK_THAT(judged(std::nextafter(1.0F, 2.0F), 1.0F, {0, 0}), Contains("[2]"));
    CHECK(judged(0.5F, 1.0F, {0.5, 0}).empty());
    CHECK(judged(-0.0F, 0.0F, {0, 0}).empty());
}

TEST_CASE("infinities and NaN meet nothing but the same infinity", "[conformance]") {
    CHECK(judged(-infinity, -infinity).empty());
    CHECK_FALSE(judged(infinity, -infinity).empty());
    CHECK_FALSE(judged(-infinity, -3e38F).empty());
    CHECK_FALSE(judged(-3e38F, -infinity).empty());
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(judged(nan, 1.0F).empty());
    CHECK_FALSE(judged(nan, nan).empty());
    // An infinite number makes the bound no wider.
    const TensorPtr have = make_tensor({2}, std::vector<float>{-infinity, 1.001F});
    const TensorPtr want = make_tensor({2}, std::vector<float>{-infinity, 1.0F});
    CHECK_THAT(difference(have.get(), *want), Contains("[1]"));
}

TEST_CASE("shapes, absent stages and lists of masked rows are compared", "[conformance]") {
    const TensorPtr row = make_tensor({1, 2}, std::vector<float>{1, 2});
    const TensorPtr column = make_tensor({2, 1}, std::vector<float>{1, 2});
    CHECK_THAT(difference(row.get(), *column), Contains("(1, 2)") && Contains("(2, 1)"));
    CHECK(difference(nullptr, *column) == "is missing");
    Trace expected;
    expected.slot(TensorId::q) = row;
    Trace got = expected;
    CHECK(difference(got, expected).empty());
    CHECK(bitwise_difference(got, expected).empty());
    got.fully_masked.push_back({0, 0, 1});
    CHECK_FALSE(difference(got, expected).empty());
    CHECK_FALSE(bitwise_difference(got, expected).empty());
    got = {};
    CHECK(difference(got, expected) == "q is missing");
    CHECK(bitwise_difference(got, expected) == "q differs");
    got.slot(TensorId::q) = make_tensor({1, 2}, std::vector<float>{1, std::nextafter(2.0F, 3.0F)});
    CHECK(difference(got, expected).empty());
    CHECK(bitwise_difference(got, expected) == "q differs");
}

TEST_CASE("a spoiled trace breaks what holds for every trace", "[conformance]") {
    const std::vector<ConformanceCase> cases = generated_cases();
    const ConformanceCase& one = masked_case(cases);
    INFO(one.name << " " << one.parameters);
    const Trace trace = reference_trace(one.problem);
    REQUIRE(broken_invariant(trace).empty());
    REQUIRE(broken_mask(one.problem, trace).empty());
    const float first = trace.stage(TensorId::masked)->data()[0];
    const float weight = trace.stage(TensorId::weights)->data()[0];
    CHECK_THAT(broken_invariant(spoiled(trace, TensorId::output, 0, std::nanf(""))),
               Contains("output holds NaN"));
    CHECK_THAT(broken_invariant(spoiled(trace, TensorId::weights, 0, weight + 1e-4F)), Contains("sums to"));
    CHECK_THAT(broken_invariant(spoiled(trace, TensorId::weights, 1, 1e-9F)),
               Contains("weights[0, 0, 0, 1]"));
    CHECK_THAT(broken_mask(one.problem, spoiled(trace, TensorId::masked, 1, 0.0F)), Contains("forbids"));
    CHECK_THAT(broken_mask(one.problem, spoiled(trace, TensorId::weights, 1, 1e-9F)), Contains("forbids"));
    CHECK_THAT(broken_mask(one.problem, spoiled(trace, TensorId::masked, 0, first + 0.01F)),
               Contains("masked[0, 0, 0, 0]"));
    CHECK_FALSE(broken_mask(one.problem, spoiled(trace, TensorId::masked, 0, -infinity)).empty());
    Trace listed = trace;
    listed.fully_masked.push_back({0, 0, 0});
    CHECK_THAT(broken_mask(one.problem, listed), Contains("fully masked rows"));
}

TEST_CASE("the rows of a mask are those of its rules' definitions, cell by cell", "[conformance]") {
    std::int64_t forbidden = 0, added = 0;
    for (const ConformanceCase& one : generated_cases()) {
        const Dims& d = one.problem.dims;
        const MaskRows rows(one.problem.mask, d);
        for (std::int64_t cell = 0; cell < d.B * d.H * d.Tq * d.Tk; ++cell) {
            const std::int64_t j = cell % d.Tk, i = cell / d.Tk % d.Tq, h = cell / d.Tk / d.Tq % d.H,
                               b = cell / d.Tk / d.Tq / d.H;
            const double expected = mask_by_definition(one.problem.mask, d, b, h, i, j);
            const bool allowed = rows.allows(b, h, i, j);
            const MaskRow row = rows.row(b, h, i);
            const double add = row.add == nullptr ? 0.0 : static_cast<double>(row.add[j]);
            forbidden += !allowed;
            added += allowed && add != 0;
            if (allowed == std::isinf(expected) || (allowed && std::abs(add - expected) > 1e-6))
                FAIL(one.name << " " << one.parameters << ": b " << b << " h " << h << " i " << i << " j "
                              << j << (allowed ? " is allowed and adds " : " is forbidden, adding ") << add
                              << ", by definition " << expected);
        }
    }
    CHECK(forbidden > 1000);
    CHECK(added > 1000);
}
