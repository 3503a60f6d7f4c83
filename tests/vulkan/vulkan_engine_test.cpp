#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/tensor/free_buffers.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/reference.h"
#include "tests/support.h"
#include "tests/vulkan/support.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

using namespace headscope;

namespace {

Problem problem_of(const Dims& dims, std::uint64_t seed, const Mask& mask = {}) {
    Numbers numbers(seed);
    Problem problem = generate(dims, {.biases = true, .gains = true, .temperature = 0.8F}, numbers);
    problem.mask = mask;
    return problem;
}

constexpr Dims odd{.B = 2, .Tq = 37, .Tk = 37, .D = 13, .Dkv = 13, .H = 6, .Hkv = 2, .dk = 7, .dv = 5};

/// cos and sin of angles that grow with the position.
Rotary rotary_of(const Dims& d, std::int64_t entries) {
    Tensor cosines({entries, d.Tq, d.dk}), sines({entries, d.Tq, d.dk});
    for (std::int64_t b = 0; b < entries; ++b)
        for (std::int64_t i = 0; i < d.Tq; ++i)
            for (std::int64_t c = 0; c < d.dk; ++c) {
                const float angle = static_cast<float>(i + b) / static_cast<float>(c % (d.dk / 2) + 1);
                cosines.at(b, i, c) = std::cos(angle);
                sines.at(b, i, c) = std::sin(angle);
            }
    return {std::make_shared<const Tensor>(std::move(cosines)),
            std::make_shared<const Tensor>(std::move(sines))};
}

/// The sentence of both engines, which has to be the same.
void check_same_sentence(const Problem& problem, engine::BackendEngine& engine) {
    cpu::CpuEngine cpu(1);
    const std::string expected = input_error([&] { cpu.run(problem); });
    CHECK_FALSE(expected.empty());
    CHECK(input_error([&] { engine.run(problem); }) == expected);
}

} // namespace

TEST_CASE("the CPU computes what has no kernel, and the trace says so") {
    Validated validated;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    const auto left_to_cpu = [&](const Problem& problem) {
        const Trace trace = engine.run(problem);
        CHECK(difference(trace, reference_trace(problem)) == "");
        CHECK(trace.device == "vulkan:0");
        return trace.left_to_cpu;
    };
    Numbers numbers(3);
    CHECK(left_to_cpu(problem_of(odd, 1)).empty());
    CHECK(left_to_cpu(generate(odd, {.value_norm = true}, numbers)).empty());
    CHECK(left_to_cpu(generate(odd, {.query_scale = true}, numbers)) ==
          StageSet().with(TensorId::q).with(TensorId::q_heads));
    CHECK(left_to_cpu(generate(odd, {.gate = true}, numbers)) == StageSet()
                                                                     .with(TensorId::gate)
                                                                     .with(TensorId::head_out_gated)
                                                                     .with(TensorId::concat)
                                                                     .with(TensorId::contributions)
                                                                     .with(TensorId::output));
    check_none(validated.messages);
}

TEST_CASE("problems whose scores have no kernel are the CPU's, with its numbers and after edits as well") {
    engine::BackendEngine engine = vulkan_engine();
    cpu::CpuEngine cpu(1);
    Numbers numbers(4);
    for (const Problem& problem :
         {problem_of(odd, 1, {ChunkedCausalMask{5}}), relative_cases().front().problem}) {
        const Trace trace = engine.run(problem);
        CHECK(trace.device == "cpu");
        CHECK(trace.left_to_cpu.empty());
        CHECK(bitwise_difference(trace, cpu.run(problem)) == "");
        Problem edited = problem;
        edited.weights.W_O = numbers.tensor(problem.weights.W_O->shape(), 1);
        Progress progress;
        const Trace after = engine.rerun(edited, problem, trace, progress);
        CHECK(bitwise_difference(after, cpu.run(edited)) == "");
        CHECK_FALSE(after.computed.stages().has(TensorId::scores)); // shared
    }
}

TEST_CASE("a run after an edit has the numbers of a run from scratch") {
    engine::BackendEngine engine = vulkan_engine();
    const Problem problem = problem_of(odd, 9);
    Problem edited = problem;
    Numbers numbers(5);
    edited.weights.W_O = numbers.tensor(problem.weights.W_O->shape(), 1);
    Progress progress;
    const Trace before = engine.run(problem);
    const Trace after = engine.rerun(edited, problem, before, progress);
    CHECK(bitwise_difference(after, engine.run(edited)) == "");
    cpu::CpuEngine cpu(1);
    CHECK(bitwise_difference(engine.rerun(edited, problem, cpu.run(problem), progress), after) == "");
}

TEST_CASE("widths from 1 to 256 and rotations agree with the reference") {
    Validated validated;
    engine::BackendEngine engine = vulkan_engine(validated.options);
    for (const std::int64_t dk : {1, 64, 256}) {
        Dims dims{.B = 1, .Tq = 9, .Tk = 9, .D = 12, .Dkv = 12, .H = 2, .Hkv = 1, .dk = dk, .dv = dk};
        const Problem problem = problem_of(dims, static_cast<std::uint64_t>(dk), {CausalMask{}});
        INFO("dk = " << dk);
        CHECK(difference(engine.run(problem), reference_trace(problem)) == "");
    }
    for (const std::int64_t entries : {1, 2}) {
        Dims dims = odd;
        dims.dk = 6;
        Problem problem = problem_of(dims, 11, {CausalMask{}});
        problem.rotary = rotary_of(dims, entries);
        CHECK(difference(engine.run(problem), reference_trace(problem)) == "");
        Numbers numbers(12);
        problem.weights.q_norm = numbers.tensor({dims.dk}, 1);
        problem.weights.k_norm = numbers.tensor({dims.dk}, 1);
        CHECK(difference(engine.run(problem), reference_trace(problem)) == "");
        problem.weights.q_norm = problem.weights.k_norm = nullptr;
        problem.weights.q_norm_all = numbers.tensor({dims.H * dims.dk}, 1);
        problem.weights.k_norm_all = numbers.tensor({dims.Hkv * dims.dk}, 1);
        problem.weights.sink = numbers.tensor({dims.H}, 2);
        problem.qkv_limit = 0.75F;
        CHECK(difference(engine.run(problem), reference_trace(problem)) == "");
        problem.rotary.reset();
        problem.score_cap = 0.5F;
        CHECK(difference(engine.run(problem), reference_trace(problem)) == "");
    }
    for (const std::string& message : validated.messages)
        FAIL_CHECK(message);
}

TEST_CASE("any set of stages has the numbers of a run with all of them") {
    engine::BackendEngine engine = vulkan_engine();
    const Problem problem = problem_of(odd, 3, {CausalMask{}});
    const Trace all = engine.run(problem);
    for (const TensorInfo& info : stages_of()) {
        Progress progress;
        const Trace one = engine.run(problem, StageSet().with(info.id), progress);
        INFO(info.name);
        REQUIRE(one.stage(info.id) != nullptr);
        CHECK(difference(one.stage(info.id), *all.stage(info.id), {0, 0}) == "");
        for (const TensorInfo& other : stages_of())
            CHECK((one.stage(other.id) != nullptr) == (other.id == info.id));
        // The kernels read values even for stages that do not need them.
        const Trace with_values = engine.run(problem, StageSet().with(info.id).with(TensorId::v), progress);
        CHECK(difference(with_values.stage(info.id), *all.stage(info.id), {0, 0}) == "");
        CHECK(difference(with_values.stage(TensorId::v), *all.stage(TensorId::v), {0, 0}) == "");
    }
}

TEST_CASE("a device keeps its buffers from run to run until the program rests") {
    engine::BackendEngine engine = vulkan_engine();
    const Dims large{
        .B = 1, .Tq = 512, .Tk = 512, .D = 64, .Dkv = 64, .H = 16, .Hkv = 16, .dk = 64, .dv = 64};
    const Problem problem = problem_of(large, 8, {CausalMask{}});
    Progress progress;
    const auto own_memory = [] { // memory of this process, where software devices keep their buffers
        std::ifstream status("/proc/self/status");
        std::int64_t kb = 0;
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("RssAnon:"))
                kb = std::stoll(line.substr(8));
        return kb;
    };
    const Trace first = engine.run(problem, StageSet().with(TensorId::output), progress);
    engine.run(problem, StageSet().with(TensorId::output), progress);
    const std::int64_t with = own_memory();
    release_free_buffers();
    if (!vulkan::vulkan_devices().front().is_hardware)
        CHECK(with - own_memory() > 4000); // inputs, queries, keys, values and a slab of scores
    CHECK(bitwise_difference(engine.run(problem, StageSet().with(TensorId::output), progress), first) == "");
}

TEST_CASE("numbers that leave float32's range are refused in the CPU's words") {
    engine::BackendEngine engine = vulkan_engine();
    Problem base = problem_of(odd, 5);
    const auto scaled_by = [](const TensorPtr& tensor, float factor) {
        Tensor copy(tensor->shape(), tensor->values());
        for (float& value : copy.values())
            value *= factor;
        return std::make_shared<const Tensor>(std::move(copy));
    };
    Problem projection = base;
    projection.x = scaled_by(base.x, 1e25F);
    projection.weights.W_Q = scaled_by(base.weights.W_Q, 1e25F);
    check_same_sentence(projection, engine);
    // At a later token, and of queries whose rows are stored with padding.
    Tensor x(base.x->shape(), base.x->values());
    for (std::int64_t c = 0; c < odd.D; ++c)
        x.at(1, 30, c) = std::numeric_limits<float>::max();
    Problem later = base;
    later.x = std::make_shared<const Tensor>(std::move(x));
    later.weights.W_Q = scaled_by(base.weights.W_Q, 1e5F);
    check_same_sentence(later, engine);
    Problem score = base;
    score.x = scaled_by(base.x, 1e22F);
    check_same_sentence(score, engine);
    Problem contribution = base;
    contribution.weights.W_V = scaled_by(base.weights.W_V, 1e30F);
    contribution.weights.W_O = scaled_by(base.weights.W_O, 1e30F);
    check_same_sentence(contribution, engine);
    Problem invalid = base;
    invalid.temperature = 0;
    check_same_sentence(invalid, engine);
    // It computes on as if nothing had been.
    CHECK(difference(engine.run(base), reference_trace(base)) == "");
}

TEST_CASE("a run can be cancelled, and the next one is whole") {
    engine::BackendEngine engine = vulkan_engine();
    const Problem problem = problem_of(odd, 6);
    Progress progress;
    progress.cancel();
    CHECK(error_kind([&] { engine.run(problem, StageSet::all(), progress); }) == ErrorKind::cancelled);
    Progress watched;
    const Trace trace = engine.run(problem, StageSet::all(), watched);
    CHECK(watched.fraction() == 1.0F);
    CHECK(difference(trace, reference_trace(problem)) == "");
}
