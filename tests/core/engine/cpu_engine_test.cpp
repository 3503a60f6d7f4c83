#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <limits>
#include <thread>

using namespace headscope;
using namespace headscope::engine;
using Catch::Contains;

namespace {

constexpr Dims small_dims{.B = 2, .Tq = 3, .Tk = 3, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2};

Problem two_entries() {
    Numbers numbers(7);
    return generate(small_dims, {}, numbers);
}

/// x is 0 but for one token; W_Q and W_K are the identity, so that its own score is the only large one.
Problem lonely_token(std::int64_t b, std::int64_t i, std::int64_t column, float value) {
    Problem problem = two_entries();
    Tensor x({small_dims.B, small_dims.Tq, small_dims.D}, 0.0F), identity({4, 4}, 0.0F);
    x.at(b, i, column) = value;
    for (std::int64_t n = 0; n < 4; ++n)
        identity.at(n, n) = 1.0F;
    problem.x = std::make_shared<const Tensor>(std::move(x));
    problem.weights.W_Q = problem.weights.W_K = std::make_shared<const Tensor>(std::move(identity));
    return problem;
}

std::string complaint(const Problem& problem) {
    return input_error([&] { cpu::CpuEngine(1).run(problem); });
}

} // namespace

TEST_CASE("a score beyond float32's range is refused by head and cell") {
    CHECK(complaint(lonely_token(1, 2, 3, 1e25F)) == "the score of key 2 of head 1 for query 2 in batch "
                                                     "entry 1 leaves float32's range; make X, W_Q or W_K "
                                                     "smaller");
    Problem negative = lonely_token(0, 1, 0, 1e25F);
    Tensor minus_identity(Shape{4, 4}, 0.0F);
    for (std::int64_t n = 0; n < 4; ++n)
        minus_identity.at(n, n) = -1.0F;
    negative.weights.W_K = std::make_shared<const Tensor>(std::move(minus_identity));
    CHECK_THAT(complaint(negative), Contains("score of key 1 of head 0 for query 1"));
    CHECK(complaint(lonely_token(1, 2, 3, 1e15F)).empty());
}

TEST_CASE("a temperature that drives a score out of range is named") {
    Problem problem = lonely_token(0, 1, 0, 1e18F);
    problem.temperature = 1e-5F;
    CHECK_THAT(complaint(problem),
               Contains("head 0") && Contains("query 1") && Contains("key 1") && Contains("temperature"));
}

TEST_CASE("an additive mask that drives a score out of range is named") {
    Problem problem = lonely_token(0, 1, 0, 1.7e19F);
    problem.temperature = 0.71F;
    problem.mask = {AdditiveMask{std::make_shared<const Tensor>(Shape{}, 2e38F)}};
    CHECK_THAT(complaint(problem),
               Contains("head 0") && Contains("query 1") && Contains("key 1") && Contains("additive mask"));
}

TEST_CASE("projections, head outputs and contributions beyond float32's range are refused") {
    Problem problem = two_entries();
    problem.x = std::make_shared<const Tensor>(Shape{2, 3, 4}, 1e38F);
    problem.weights.W_V = std::make_shared<const Tensor>(Shape{4, 4}, 1.0F);
    problem.weights.W_Q = problem.weights.W_K = std::make_shared<const Tensor>(Shape{4, 4}, 0.0F);
    CHECK_THAT(complaint(problem), Contains("v[") && Contains("W_V"));
    problem.x = std::make_shared<const Tensor>(Shape{2, 3, 4}, 1e37F);
    problem.weights.W_O = std::make_shared<const Tensor>(Shape{4, 4}, 0.0F);
    problem.gains = {1.0F, 100.0F};
    CHECK_THAT(complaint(problem), Contains("output of head 1 for query 0") && Contains("gain"));
    problem.gains.clear();
    problem.weights.W_O = std::make_shared<const Tensor>(Shape{4, 4}, 100.0F);
    CHECK_THAT(complaint(problem), Contains("contribution of head 0 for query 0") && Contains("W_O"));
}

TEST_CASE("the CPU engine refuses what validate refuses") {
    Problem problem = two_entries();
    problem.temperature = 0.0F;
    CHECK_THAT(complaint(problem), Contains("temperature"));
}

TEST_CASE("a cancelled run stops with Error(cancelled), whatever is wanted") {
    const Problem problem = two_entries();
    for (const StageSet wanted : {StageSet::all(), StageSet().with(TensorId::q), StageSet()}) {
        Progress progress;
        progress.cancel();
        cpu::CpuEngine engine(2);
        const auto kind = error_kind([&] { engine.run(problem, wanted, progress); });
        CHECK(kind == ErrorKind::cancelled);
    }
}

TEST_CASE("a large run is cancelled from another thread, and the engine can be used again") {
    constexpr Dims large{
        .B = 32, .Tq = 512, .Tk = 512, .D = 64, .Dkv = 64, .H = 8, .Hkv = 8, .dk = 8, .dv = 8};
    Numbers numbers(3);
    const Problem problem = generate(large, {}, numbers);
    cpu::CpuEngine engine(3);
    Progress progress;
    std::jthread watcher([&] {
        while (progress.fraction() == 0.0F)
            std::this_thread::yield();
        progress.cancel();
    });
    CHECK(error_kind([&] { engine.run(problem, StageSet().with(TensorId::output), progress); }) ==
          ErrorKind::cancelled);
    CHECK(progress.fraction() < 1.0F);
    CHECK_NOTHROW(engine.run(two_entries()));
}

TEST_CASE("a run reports its progress to the end, its device and its time") {
    Progress progress;
    const Trace trace = cpu::CpuEngine(1).run(two_entries(), StageSet::all(), progress);
    CHECK(progress.fraction() == 1.0F);
    CHECK(trace.device == "cpu");
    CHECK(trace.seconds > 0.0);
    CHECK(trace.dims == small_dims);
}

TEST_CASE("masked rows are listed in order, whichever thread found them") {
    constexpr Dims large{
        .B = 3, .Tq = 200, .Tk = 200, .D = 16, .Dkv = 16, .H = 8, .Hkv = 8, .dk = 16, .dv = 16};
    Numbers numbers(4);
    Problem problem = generate(large, {}, numbers);
    problem.mask = {KeyPaddingMask{numbers.bools({1, large.Tk}, 0)}};
    cpu::CpuEngine engine(3);
    for (int round = 0; round < 10; ++round) {
        Progress progress;
        const Trace trace = engine.run(problem, StageSet().with(TensorId::output), progress);
        REQUIRE(trace.fully_masked.size() == 3 * 8 * 200);
        bool in_order = true;
        for (std::int64_t row = 0; row < 3 * 8 * 200; ++row)
            in_order = in_order && trace.fully_masked[static_cast<std::size_t>(row)] ==
                                       MaskedRow{row / 1600, row / 200 % 8, row % 200};
        CHECK(in_order);
    }
}

TEST_CASE("a masked row is zero up to concat, and its output is b_O") {
    Problem problem = two_entries();
    problem.weights.b_O = make_tensor({4}, std::vector<float>{1, 2, 3, 4});
    auto allowed = std::make_shared<BoolTensor>(BoolTensor{{3, 3}, {1, 1, 1, 0, 0, 0, 1, 0, 0}});
    problem.mask = {ExplicitMask{allowed}};
    const Trace trace = cpu::CpuEngine(1).run(problem);
    const std::vector<MaskedRow> expected{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
    CHECK(trace.fully_masked == expected);
    for (std::int64_t c = 0; c < 4; ++c) {
        CHECK(trace.stage(TensorId::concat)->at(1, 1, c) == 0.0F);
        CHECK(trace.stage(TensorId::output)->at(1, 1, c) == static_cast<float>(c + 1));
    }
    CHECK(trace.stage(TensorId::weights)->at(0, 0, 2, 0) == 1.0F);
}
