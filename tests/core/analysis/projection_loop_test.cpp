#include "core/analysis/projection_loop.h"

#include "core/engine/engine.h"
#include "core/project/recipe.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::analysis;

TEST_CASE("a loop over heads gives what one projection gives, and a view without transpose does not") {
    project::Recipe recipe;
    recipe.preset = "random";
    recipe.sentence = "The cat sat on the mat and looked at me";
    recipe.H = 4;
    recipe.Hkv = 2;
    const Problem problem = project::build_recipe(recipe).problem;
    const std::vector<ProjectionPair> pairs = compare_projections(problem);
    REQUIRE(pairs.size() == 3);
    CHECK(pairs[0].heads == 4);
    CHECK(pairs[1].heads == 2);
    CHECK(pairs[0].x == Shape{10, 32});
    CHECK(pairs[0].slice == Shape{32, 8});
    CHECK(pairs[0].matrix == Shape{32, 32});
    CHECK(pairs[2].matrix == Shape{32, 16});
    for (const ProjectionPair& pair : pairs)
        CHECK(pair.difference < 1e-5);

    // The wrong view, with the engine's numbers: block h of q in memory order, compared with head h.
    const Trace trace = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
    const Tensor &q = *trace.stage(TensorId::q), &q_heads = *trace.stage(TensorId::q_heads);
    float largest = 0;
    for (std::int64_t n = 0; n < q.count(); ++n)
        largest = std::max(largest, std::abs(q.data()[n] - q_heads.data()[n]));
    CHECK(largest > 0.1F);
    CHECK(std::abs(pairs[0].without_transpose - static_cast<double>(largest)) < 1e-4);
}

TEST_CASE("with one head there is nothing to transpose") {
    project::Recipe recipe;
    recipe.preset = "random";
    recipe.sentence = "The cat sat down";
    recipe.H = 1;
    for (const ProjectionPair& pair : compare_projections(project::build_recipe(recipe).problem)) {
        CHECK(pair.difference < 1e-5);
        CHECK(pair.without_transpose < 1e-5);
    }
}
