#include "core/analysis/checkpoints/parameter_difference.h"
#include "tests/catch.h"
#include "tests/test_data.h"

using namespace headscope;
using analysis::CheckpointPair;
using analysis::NumberDifference;
using Catch::Contains;

TEST_CASE("the relative difference is that of the norms, and none where only A is zero", "[diff]") {
    CHECK(NumberDifference{.norm = 4, .difference = 1}.relative() == 0.25);
    CHECK(NumberDifference{.norm = 0, .difference = 0}.relative() == 0.0);
    CHECK(!NumberDifference{.norm = 0, .difference = 1}.relative());
    const NumberDifference both =
        NumberDifference{.norm = 3, .difference = 0.6, .largest = 0.5}.with({4, 0.8, 0.25});
    CHECK(both.norm == Approx(5));
    CHECK(both.difference == Approx(1));
    CHECK(both.largest == 0.5);
}

TEST_CASE("equal checkpoints need no edits, and others of another shape are refused by name", "[diff]") {
    const auto open = [](const char* name) {
        return checkpoint::Model::open(test_data("/models/") + std::string(name));
    };
    const checkpoint::Model a = open("gpt2_tiny"), b = open("gpt2_tiny"), other = open("llama_tiny_tied");
    Progress progress;
    CHECK(CheckpointPair(a, b).edits(progress).empty());
    CHECK_THROWS_WITH(CheckpointPair(a, other), Contains("have different shapes"));
}
