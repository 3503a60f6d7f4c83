#include "core/engine/memory_need.h"

#include "core/base/memory.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/project/recipe.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"

#include <limits>

using namespace headscope;

TEST_CASE("the bytes of stages are those of the tensors that a run makes") {
    const Problem problem =
        project::build_recipe({.preset = "first-lesson", .sentence = "The cat sat on the mat"}).problem;
    Trace trace = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
    std::uint64_t all = 0;
    for (const TensorInfo& info : stage_table())
        if (const Tensor* const tensor = trace.stage(info.id); tensor != nullptr && info.id != TensorId::x) {
            const auto bytes = static_cast<std::uint64_t>(tensor->count()) * sizeof(float);
            CAPTURE(info.name);
            CHECK(engine::stage_bytes(problem, StageSet().with(info.id)) == bytes);
            all += bytes;
        }
    CHECK(engine::stage_bytes(problem, StageSet::all()) == all);
    CHECK(engine::stage_bytes(problem, StageSet().with(TensorId::x)) == 0);
}

TEST_CASE("bytes beyond all numbers stop at the largest") {
    Problem problem;
    problem.dims.B = problem.dims.H = problem.dims.Tq = problem.dims.Tk = std::int64_t{1} << 40U;
    CHECK(engine::stage_bytes(problem, StageSet().with(TensorId::weights)) ==
          std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a run and an edit that do not fit into memory are refused, and name a remedy", "[memory]") {
    struct Limit {
        explicit Limit(std::uint64_t bytes) { limit_memory(bytes); }
        ~Limit() { limit_memory(std::numeric_limits<std::uint64_t>::max()); }
    };
    Numbers numbers(3);
    constexpr std::int64_t T =
        300; // four maps of 90,000 numbers for each head are more than the granted 1 MiB
    const Problem problem = generate(
        {.B = 1, .Tq = T, .Tk = T, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4}, {}, numbers);
    Problem edited = problem;
    edited.temperature = 2;
    cpu::CpuEngine engine(1);
    Progress progress;
    const Trace trace = engine.run(problem);
    const Limit limit(1);
    const auto refused = [](const auto& compute) -> std::string {
        try {
            compute();
        } catch (const MemoryShortage& shortage) {
            return shortage.what();
        }
        return {};
    };
    CHECK_THAT(refused([&] { engine.run(problem); }), Catch::Contains("or fewer stages"));
    CHECK_THAT(refused([&] { engine.rerun(edited, problem, trace, progress); }),
               Catch::Contains("take a shorter text, or"));
    // The output alone, and an edit that only changes it, need no map.
    CHECK(engine.run(problem, StageSet().with(TensorId::output), progress).stage(TensorId::output) !=
          nullptr);
    edited = problem;
    edited.weights.b_O = numbers.tensor({8}, 1);
    CHECK(engine.rerun(edited, problem, trace, progress).stage(TensorId::weights) ==
          trace.stage(TensorId::weights));
}
