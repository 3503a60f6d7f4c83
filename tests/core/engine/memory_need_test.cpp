#include "core/engine/memory_need.h"

#include "core/engine/engine.h"
#include "core/project/recipe.h"
#include "tests/catch.h"

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
