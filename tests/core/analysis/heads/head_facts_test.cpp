#include "core/analysis/heads/head_facts.h"
#include "core/analysis/heads/head_map.h"
#include "core/analysis/pool.h"
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

/// One head of a size that is read in several blocks, whose weights are made where they are read.
class LargeHead final : public AttentionSet {
public:
    explicit LargeHead(std::int64_t T) {
        info_.L = info_.H = 1;
        info_.Tq = info_.Tk = T;
        info_.numbers = {0};
    }
    const AttentionInfo& info() const override { return info_; }
    const std::vector<std::string>& query_tokens(std::int64_t) const override { return none_; }
    const std::vector<std::string>& key_tokens(std::int64_t) const override { return none_; }
    TensorPtr layer(std::int64_t) const override { throw Error(ErrorKind::internal, "a layer was read"); }
    void read_part(std::int64_t, std::int64_t, const MapPart& part, std::span<float> to) const override {
        largest_read_ = std::max(largest_read_, to.size());
        for (std::int64_t i = 0; i < part.rows; ++i)
            for (std::int64_t j = 0; j < part.cols; ++j)
                to[static_cast<std::size_t>(i * part.cols + j)] = weight(part.row + i, part.col + j);
    }
    static float weight(std::int64_t i, std::int64_t j) {
        return j > i ? 0.0F : static_cast<float>((i * 7919 + j * 104729) % 9973) * 1e-8F;
    }
    std::size_t largest_read() const { return largest_read_; }

private:
    AttentionInfo info_;
    std::vector<std::string> none_;
    mutable std::size_t largest_read_ = 0;
};

} // namespace

TEST_CASE("a large head is made small without being held as a whole") {
    constexpr std::int64_t T = 3000;
    const LargeHead set(T);
    const std::vector<HeadMap> maps = head_maps(set, 0, 64, Progress());
    CHECK(set.largest_read() < T * T / 2);
    std::vector<float> whole(T * T);
    set.read_head(0, 0, whole);
    REQUIRE(maps.size() == 1);
    CHECK(maps[0].largest == max_pool(whole, T, T, 64, 64));
    const HeadFacts facts = head_facts(whole, T, T, set.info().sum_tolerance);
    CHECK(maps[0].facts.rows_off == facts.rows_off);
    CHECK(maps[0].facts.causal);
    CHECK(maps[0].facts.metrics.scores == facts.metrics.scores);
}

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
    // Two queries that end with the keys: the first query is at key 1.
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

TEST_CASE("some heads of a layer are read alone, and the mean is still over all") {
    const AttentionSetPtr set = format::open_attention_file(test_data("/attention/lh_f64.npy"));
    Progress progress;
    const Trace whole = attention_trace(*set, 1, progress);
    const Trace some = attention_trace(*set, 1, progress, {1}, false);
    CHECK(some.stage(TensorId::weights_mean) == nullptr);
    CHECK(some.dims == whole.dims);
    const Trace with_mean = attention_trace(*set, 1, progress, {0, 2}, true);
    CHECK(std::ranges::equal(with_mean.stage(TensorId::weights_mean)->values(),
                             whole.stage(TensorId::weights_mean)->values()));
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 4; ++j) {
            const auto at = [&](const Trace& trace, std::int64_t h) {
                return trace.stage(TensorId::weights)->at(0, h, i, j);
            };
            CHECK(at(some, 1) == at(whole, 1));
            CHECK(at(with_mean, 0) == at(whole, 0));
            CHECK(at(with_mean, 2) == at(whole, 2));
        }
    // A row of zeros is found in heads that are read for the mean alone, too.
    const AttentionSetPtr odd = format::open_attention_file(test_data("/attention/odd_f32.npy"));
    CHECK(attention_trace(*odd, 0, progress, {0}, true).fully_masked == std::vector<MaskedRow>{{0, 2, 3}});
    CHECK(attention_trace(*odd, 0, progress, {0}, false).fully_masked.empty());
}

TEST_CASE("a head measured some rows at a time is what it is as a whole") {
    for (const char* const name :
         {"/attention/lh_f32.npy", "/attention/odd_f32.npy", "/attention/map_f16.npy"}) {
        const AttentionSetPtr set = format::open_attention_file(test_data(name));
        const AttentionInfo& info = set->info();
        for (std::int64_t h = 0; h < info.H; ++h) {
            INFO(name << " head " << h);
            std::vector<float> weights(static_cast<std::size_t>(info.Tq * info.Tk));
            set->read_head(0, h, weights);
            const HeadFacts whole = head_facts(weights, info.Tq, info.Tk, info.sum_tolerance);
            RowFacts rows(info.Tq, info.Tk, info.sum_tolerance);
            for (std::int64_t i = 0; i < info.Tq; i += 3) {
                const std::int64_t count = std::min<std::int64_t>(3, info.Tq - i);
                rows.add(i, std::span(weights).subspan(static_cast<std::size_t>(i * info.Tk),
                                                       static_cast<std::size_t>(count * info.Tk)));
            }
            const HeadFacts facts = rows.result();
            CHECK(facts.metrics.scores == whole.metrics.scores);
            CHECK(facts.causal == whole.causal);
            CHECK(facts.rows_off == whole.rows_off);
            CHECK(facts.worst_row == whole.worst_row);
            CHECK(facts.not_finite == whole.not_finite);
            CHECK(facts.outside == whole.outside);
            CHECK(facts.empty_rows == whole.empty_rows);
            CHECK(facts.strongest.size() == whole.strongest.size());
        }
    }
}

namespace {

/// The label of each head of GPT-2 small on a sentence of seven tokens, as its own weights give it.
HeadMetrics of_gpt2(std::int64_t l, std::int64_t h) {
    const AttentionSetPtr set = format::open_attention_file(test_data("/attention/gpt2_planet_f16.npy"));
    const AttentionInfo& info = set->info();
    std::vector<float> weights;
    for_rows(*set, l, h, [&](std::int64_t, std::span<const float> rows) {
        weights.insert(weights.end(), rows.begin(), rows.end());
    });
    return head_facts(weights, info.Tq, info.Tk, info.sum_tolerance, key_tokens_of(*set, l)).metrics;
}

} // namespace

TEST_CASE("heads of GPT-2 are named by what they do beside the first token") {
    const HeadMetrics pure = of_gpt2(4, 11);
    CHECK(pure.label() == "previous token");
    CHECK_FALSE(pure.beside_first);
    CHECK(of_gpt2(2, 2).label() == "previous token");

    // NumPy, of the rows from the third on that keep 0.1: mean of A[i, i-1] / sum of A[i, 1:].
    const HeadMetrics sinking = of_gpt2(5, 6);
    CHECK(sinking[HeadScore::first] > 0.7F);
    CHECK(sinking.label() == "previous token");
    CHECK(sinking.beside_first);
    CHECK(sinking.label_score() == Approx(0.8197).margin(0.0005));

    // Nearly nothing remains of most rows of this head: A[:, 0] is 0.96 on average.
    const HeadMetrics noise = of_gpt2(10, 6);
    CHECK(noise.label() == "first token");
    CHECK_FALSE(noise.beside_first);
    CHECK(noise.label_score() == noise[HeadScore::first]);

    std::int64_t beside = 0, first = 0;
    for (std::int64_t l = 0; l < 12; ++l)
        for (std::int64_t h = 0; h < 12; ++h) {
            const HeadMetrics head = of_gpt2(l, h);
            beside += head.beside_first ? 1 : 0;
            first += head.label() == "first token" ? 1 : 0;
            CHECK((!head.beside_first || head[HeadScore::first] >= 0.5F));
        }
    CHECK(beside == 13); // counted with NumPy by the same rule
    CHECK(first == 107);
}

TEST_CASE("what remains beside a sink may be induction or a token said again") {
    // Of "a b c a b c" the last three rows keep 0.8 for the first token and put the rest on one key.
    const auto with = [](std::int64_t back, const HeadTokens& tokens) {
        std::vector<float> weights(36, 0);
        for (std::size_t i = 0; i < 6; ++i) {
            weights[i * 6] = 0.8F;
            weights[i * 6 + (i >= 3 ? i - static_cast<std::size_t>(back) : i)] += 0.2F;
        }
        return head_facts(weights, 6, 6, 1e-4F, tokens).metrics;
    };
    const HeadTokens said_twice{.keys = {"a", "b", "c", "a", "b", "c"}};
    CHECK(with(2, said_twice).label() == "induction");
    CHECK(with(2, said_twice).beside_first);
    // Row 2 attends to itself. Among rows 3, 4 and 5, the first attends only to the first token, which is
    // left out.
    CHECK(with(3, said_twice).label() == "duplicate token");
    CHECK(with(3, {.keys = said_twice.keys, .repeated = 3}).beside_first);
}
