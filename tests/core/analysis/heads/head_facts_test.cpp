#include "core/analysis/heads/head_facts.h"
#include "core/analysis/heads/head_map.h"
#include "core/format/attention_file.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <cmath>

using namespace headscope;
using namespace headscope::analysis;

namespace {

std::vector<HeadMap> odd_heads() {
    const AttentionSetPtr set = format::open_attention_file(test_data("/attention/odd_f32.npy"));
    return head_maps(*set, 0, 128, Progress());
}

} // namespace

TEST_CASE("rows that do not sum to 1 are counted, with the worst of them") {
    const HeadFacts facts = odd_heads()[0].facts;
    CHECK(facts.rows_off == 1);
    CHECK(facts.worst_row == 2);
    CHECK(facts.worst_sum == Approx(1.25));
    CHECK(facts.flagged());
    CHECK(facts.causal);
}

TEST_CASE("what is no finite number is counted and placed, and counts as 0") {
    const HeadFacts facts = odd_heads()[1].facts;
    CHECK(facts.not_finite == 2);
    CHECK(facts.first_not_finite.i == 1);
    CHECK(facts.first_not_finite.j == 0);
    CHECK(std::isfinite(facts.metrics[HeadScore::entropy]));
    CHECK(std::isfinite(facts.worst_sum));
}

TEST_CASE("rows of zeros are fine, negative weights are not") {
    const HeadFacts facts = odd_heads()[2].facts;
    CHECK(facts.empty_rows == 1);
    CHECK(facts.outside == 1);
    CHECK(facts.first_outside.value == -0.5F);
}

TEST_CASE("half precision is given its rounding, float32 is not") {
    std::vector<float> weights{0.6F, 0.401F, 0.5F, 0.5F};
    CHECK(head_facts(weights, 2, 2, 2e-3F).rows_off == 0);
    CHECK(head_facts(weights, 2, 2, 1e-4F).rows_off == 1);
}

TEST_CASE("beside a sink rows may fall short of 1 and may not pass it") {
    const std::vector<float> weights{0.1F, 0.2F, 0.5F, 0.6F};
    const HeadFacts facts = head_facts(weights, 2, 2, 1e-4F, {}, true);
    CHECK(facts.rows_off == 1);
    CHECK(facts.worst_row == 1);
    CHECK(head_facts(weights, 2, 2, 1e-4F).rows_off == 2);
}

TEST_CASE("a head is causal when no query reads a later key") {
    const std::vector<float> causal{1, 0, 0, 0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F};
    std::vector<float> looks_ahead = causal;
    looks_ahead[1] = 1e-6F;
    CHECK(head_facts(causal, 3, 3, 1e-4F).causal);
    CHECK_FALSE(head_facts(looks_ahead, 3, 3, 1e-4F).causal);
    // Two queries that end with the keys: the first stands at key 1.
    CHECK(head_facts(std::vector<float>{0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F}, 2, 3, 1e-4F).causal);
    CHECK_FALSE(head_facts(std::vector<float>{0.5F, 0, 0.5F, 0.2F, 0.3F, 0.5F}, 2, 3, 1e-4F).causal);
}

TEST_CASE("the strongest weights come largest first, without the first key") {
    std::vector<float> weights(40 * 40, 0.0F);
    for (std::int64_t i = 0; i < 40; ++i) {
        weights[static_cast<std::size_t>(i * 40)] = 0.9F;
        weights[static_cast<std::size_t>(i * 40 + 39 - i)] += 0.01F * static_cast<float>(i);
    }
    const auto strongest = head_facts(weights, 40, 40, 1e-4F).strongest;
    REQUIRE(strongest.size() == 24);
    CHECK(strongest.front().i == 38);
    CHECK(strongest.front().j == 1);
    CHECK(std::ranges::is_sorted(strongest, std::ranges::greater{}, &PlacedWeight::value));
    CHECK(std::ranges::none_of(strongest, [](const PlacedWeight& weight) { return weight.j == 0; }));
}

TEST_CASE("a layer of a set is a trace of weights and their mean alone") {
    const AttentionSetPtr set = format::open_attention_file(test_data("/attention/lh_f64.npy"));
    Progress progress;
    const Trace trace = attention_trace(*set, 1, progress);
    const Tensor &weights = *trace.stage(TensorId::weights), &mean = *trace.stage(TensorId::weights_mean);
    CHECK(mean.at(0, 2, 1) ==
          Approx((weights.at(0, 0, 2, 1) + weights.at(0, 1, 2, 1) + weights.at(0, 2, 2, 1)) / 3));
    CHECK(trace.stage(TensorId::scores) == nullptr);
    progress.cancel();
    CHECK_THROWS_AS(attention_trace(*set, 1, progress), Error);
}
