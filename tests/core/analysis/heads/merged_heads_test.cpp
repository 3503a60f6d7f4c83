#include "core/analysis/heads/merged_heads.h"

#include "core/attention/regroup.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/project/recipe.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace headscope;
using namespace headscope::analysis;

namespace {

constexpr std::array<std::int64_t, 3> three{0, 1, 2};

Problem random_problem(std::int64_t H, std::int64_t Hkv = 0) {
    project::Recipe recipe;
    recipe.preset = "random";
    recipe.sentence = "The cat sat on the mat";
    recipe.H = H;
    recipe.Hkv = Hkv;
    return project::build_recipe(recipe).problem;
}

TensorPtr weights_of(const Problem& problem) {
    return static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem).slot(TensorId::weights);
}

float largest_difference(const Tensor& a, std::int64_t h, const Tensor& b, std::int64_t g) {
    float largest = 0;
    for (std::int64_t i = 0; i < a.shape()[2]; ++i)
        for (std::int64_t j = 0; j < a.shape()[3]; ++j)
            largest = std::max(largest, std::abs(a.at(0, h, i, j) - b.at(0, g, i, j)));
    return largest;
}

} // namespace

TEST_CASE("heads that share nothing keep their weights") {
    for (const std::int64_t Hkv : {0, 2}) {
        const Problem problem = random_problem(4, Hkv);
        const TensorPtr before = weights_of(problem), after = weights_of(merged_heads(problem, three, 0));
        REQUIRE(after->shape()[1] == 3);
        for (const std::int64_t h : three)
            CHECK(largest_difference(*before, h, *after, h) < 1e-6F);
        const std::array<std::int64_t, 2> others{3, 1};
        CHECK(largest_difference(*before, 3, *weights_of(merged_heads(problem, others, 0)), 0) < 1e-6F);
    }
}

TEST_CASE("heads merged wholly are the one head that owns all their columns") {
    const Problem problem = random_problem(2);
    const std::array<std::int64_t, 2> both{0, 1};
    const TensorPtr one = weights_of(with_head_count(problem, 1)),
                    merged = weights_of(merged_heads(problem, both, 1));
    CHECK(largest_difference(*one, 0, *merged, 0) < 1e-6F);
    CHECK(largest_difference(*one, 0, *merged, 1) < 1e-6F);
    CHECK(largest_difference(*one, 0, *weights_of(merged_heads(problem, both, 0.5F)), 0) > 1e-3F);
}

TEST_CASE("what is shared is added to the scores and divided by the width it comes from") {
    const Problem problem = random_problem(4);
    const Trace own = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem),
                mixed = static_cast<engine::Engine&>(*engine::make_engine("cpu"))
                            .run(merged_heads(problem, three, 0.25F));
    const Tensor &s = *own.stage(TensorId::scores), &scaled = *mixed.stage(TensorId::scaled);
    const double width = static_cast<double>(problem.dims.dk) * (1 + 2 * 0.25);
    const double expected = (static_cast<double>(s.at(0, 1, 2, 3)) +
                             0.25 * static_cast<double>(s.at(0, 0, 2, 3) + s.at(0, 2, 2, 3))) /
                            std::sqrt(width);
    CHECK(std::abs(static_cast<double>(scaled.at(0, 1, 2, 3)) - expected) < 1e-5);
}

TEST_CASE("merging refuses heads that are not there and masks with rules for each head") {
    const Problem problem = random_problem(4);
    const auto fault = [](const Problem& of, const std::vector<std::int64_t>& heads) -> std::string {
        try {
            merged_heads(of, heads, 0);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(fault(problem, {0, 4}).find("there is no head 4") != std::string::npos);
    CHECK(fault(problem, {0}).find("at least two heads") != std::string::npos);
    Problem masked = problem;
    const std::int64_t T = problem.dims.Tq;
    const Shape shape{1, 4, T, T};
    masked.mask.emplace_back(ExplicitMask{std::make_shared<const BoolTensor>(
        BoolTensor{shape, std::vector<std::uint8_t>(static_cast<std::size_t>(shape.count()), 1)})});
    CHECK(fault(masked, {0, 1}).find("separate rules for each head") != std::string::npos);
    masked.mask = {CausalMask{}};
    CHECK(fault(masked, {0, 1}).empty());
}
