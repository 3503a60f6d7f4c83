#include "tests/bench/editing.h"

#include "core/text/random_numbers.h"
#include "tests/bench/frames.h"

#include <algorithm>
#include <cmath>

namespace headscope::bench {

namespace {

std::shared_ptr<const Problem> large_problem() {
    constexpr std::int64_t T = 64, D = 512, H = 8;
    text::RandomNumbers numbers(1);
    const auto drawn = [&](const Shape& shape, float scale) {
        Tensor tensor(shape);
        std::ranges::generate(tensor.values(), [&] { return scale * numbers.uniform(); });
        return std::make_shared<const Tensor>(std::move(tensor));
    };
    const float scale = 1.0F / std::sqrt(static_cast<float>(D));
    Problem problem;
    problem.dims = {1, T, T, D, D, H, H, D / H, D / H};
    problem.x = drawn({1, T, D}, 1);
    for (TensorPtr* weight :
         {&problem.weights.W_Q, &problem.weights.W_K, &problem.weights.W_V, &problem.weights.W_O})
        *weight = drawn({D, D}, scale);
    return std::make_shared<const Problem>(std::move(problem));
}

} // namespace

std::vector<double> editing_frames() {
    project::Recipe recipe;
    recipe.base = large_problem();
    const app::CellAddress cell{TensorId::W_O, {3, 4, 0, 0}};
    app::Program program({.recipe = recipe, .device = "auto"});
    program.settle();
    program.act(app::GoTo{StageGroup::output});
    program.act(app::Select{cell});
    // Changes one number before every frame, as dragging does.
    return run_frames(program, 120,
                      [&](int n) {
                          program.act(app::EditCell{cell, 0.01F * static_cast<float>(n)});
                      })
        .processor;
}

} // namespace headscope::bench
