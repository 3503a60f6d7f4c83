#include "core/analysis/heads/head_metrics.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace headscope;
using namespace headscope::analysis;

namespace {

/// A trace of one head with these weights, row by row.
Trace with_weights(std::int64_t Tq, std::int64_t Tk, const std::vector<float>& weights) {
    Trace trace;
    trace.dims = {.B = 1, .Tq = Tq, .Tk = Tk, .D = 1, .Dkv = 1, .H = 1, .Hkv = 1, .dk = 1, .dv = 1};
    trace.slot(TensorId::weights) = make_tensor({1, 1, Tq, Tk}, weights);
    return trace;
}

HeadMetrics only(const Trace& trace) {
    const auto all = head_metrics(trace, 0);
    REQUIRE(all.size() == 1);
    return all.front();
}

} // namespace

TEST_CASE("a head that reads all keys alike has the entropy ln Tk and no label") {
    const HeadMetrics m = only(with_weights(4, 4, std::vector<float>(16, 0.25F)));
    CHECK(m[HeadScore::entropy] == Approx(std::log(4.0)));
    CHECK(m[HeadScore::largest] == 0.25F);
    CHECK(m[HeadScore::previous] == 0.25F);
    CHECK(m[HeadScore::next] == 0.25F);
    CHECK(m[HeadScore::self] == 0.25F);
    CHECK(m[HeadScore::first] == 0.25F);
    CHECK(m.label().empty());
    CHECK(m[HeadScore::share] == 0.0F);
}

TEST_CASE("positions are scored over the rows that have them, and name the head") {
    const HeadMetrics previous = only(with_weights(3, 3, {1, 0, 0, 0.75F, 0.25F, 0, 0, 0.5F, 0.5F}));
    CHECK(previous[HeadScore::previous] == Approx((0.75 + 0.5) / 2));
    CHECK(previous[HeadScore::self] == Approx((1 + 0.25 + 0.5) / 3));
    CHECK(previous[HeadScore::next] == 0.0F);
    CHECK(previous[HeadScore::first] == Approx(0.75 / 2));
    CHECK(previous[HeadScore::largest] == Approx((1 + 0.75 + 0.5) / 3));
    CHECK(previous.label() == "previous token");
    CHECK(only(with_weights(3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1})).label() == "itself");
    const HeadMetrics next = only(with_weights(3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}));
    CHECK(next.label() == "next token");
    CHECK(next[HeadScore::next] == 1.0F);
    CHECK(next[HeadScore::entropy] == 0.0F);
    CHECK(only(with_weights(4, 4, {1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})).label() ==
          "first token");
}

TEST_CASE("fully masked rows are left out of every average") {
    Trace trace = with_weights(3, 3, {0, 0, 0, 0, 0, 0, 0.5F, 0.5F, 0});
    trace.fully_masked = {{0, 0, 0}, {0, 0, 1}};
    const HeadMetrics m = only(trace);
    CHECK(m[HeadScore::entropy] == Approx(std::log(2.0)));
    CHECK(m[HeadScore::largest] == 0.5F);
    CHECK(m[HeadScore::previous] == 0.5F);
    CHECK(m[HeadScore::self] == 0.0F);
    CHECK(m[HeadScore::first] == 0.5F);
    trace.fully_masked.push_back({0, 0, 2});
    CHECK(only(trace)[HeadScore::largest] == 0.0F);
    CHECK(only(trace)[HeadScore::entropy] == 0.0F);
}

TEST_CASE("positions mean nothing between sequences of different lengths") {
    const HeadMetrics m = only(with_weights(2, 3, {1, 0, 0, 0, 1, 0}));
    CHECK(m[HeadScore::largest] == 1.0F);
    CHECK(m[HeadScore::previous] == 0.0F);
    CHECK(m[HeadScore::next] == 0.0F);
    CHECK(m[HeadScore::self] == 0.0F);
    CHECK(m[HeadScore::first] == 0.0F);
    CHECK(m.label().empty());
}

TEST_CASE("metrics belong to the batch entry and the head asked for; shares add up to 1") {
    Trace trace;
    trace.dims = {.B = 2, .Tq = 2, .Tk = 2, .D = 2, .Dkv = 2, .H = 2, .Hkv = 2, .dk = 1, .dv = 1};
    trace.slot(TensorId::weights) =
        make_tensor({2, 2, 2, 2}, std::vector<float>{0, 1, 1, 0, 0.5F, 0.5F, 0.5F, 0.5F, //
                                                     1, 0, 0, 1, 0, 0, 0.25F, 0.75F});
    trace.slot(TensorId::contributions) =
        make_tensor({2, 2, 2, 2}, std::vector<float>{9, 9, 9, 9, 9, 9, 9, 9, //
                                                     3, 0, 0, 4, 0, 15, 0, 0});
    trace.fully_masked = {{1, 1, 0}};
    const auto m = head_metrics(trace, 1);
    REQUIRE(m.size() == 2);
    CHECK(m[0][HeadScore::self] == 1.0F);
    CHECK(m[1][HeadScore::self] == 0.75F);
    CHECK(m[0][HeadScore::share] == Approx(0.25));
    CHECK(m[1][HeadScore::share] == Approx(0.75));
    CHECK(head_metrics(trace, 0)[1][HeadScore::largest] == 0.5F);
}

TEST_CASE("shares of contributions near the end of float32's range stay shares, and of nothing are 0") {
    Trace trace = with_weights(1, 1, {1});
    trace.dims.H = 2;
    trace.slot(TensorId::weights) = make_tensor({1, 2, 1, 1}, std::vector<float>{1, 1});
    trace.slot(TensorId::contributions) = make_tensor({1, 2, 1, 1}, std::vector<float>{3e38F, -3e38F});
    CHECK(head_metrics(trace, 0)[1][HeadScore::share] == Approx(0.5));
    trace.slot(TensorId::contributions) = make_tensor({1, 2, 1, 1}, std::vector<float>{0, 0});
    CHECK(head_metrics(trace, 0)[1][HeadScore::share] == 0.0F);
}

TEST_CASE("heads that were not computed anew keep what was measured") {
    Trace trace = with_weights(2, 2, {1, 0, 0, 1});
    trace.computed = {{}, {StageSet{}}};
    auto before = head_metrics(trace, 0);
    before.front().set(HeadScore::entropy, 0.25F);
    CHECK(head_metrics(trace, 0, before).front()[HeadScore::entropy] == 0.25F);
    trace.computed.heads.front() = StageSet{}.with(TensorId::weights);
    CHECK(head_metrics(trace, 0, before).front()[HeadScore::entropy] == 0.0F);
}

TEST_CASE("mean distance counts every weight by how far it reaches") {
    const HeadMetrics m = only(with_weights(3, 3, {1, 0, 0, 0.75F, 0.25F, 0, 0.5F, 0.25F, 0.25F}));
    CHECK(m[HeadScore::distance] == Approx((0.75 + 0.5 * 2 + 0.25) / 3));
    CHECK(only(with_weights(2, 3, {1, 0, 0, 0, 1, 0}))[HeadScore::distance] == 0.0F);
    CHECK(largest_score(HeadScore::distance, 3) == 2.0);
    Trace masked = with_weights(2, 2, {0, 0, 1, 0});
    masked.fully_masked = {{0, 0, 0}};
    CHECK(only(masked)[HeadScore::distance] == 1.0F);
}

TEST_CASE("confidence leaves keys out that end a text, and only those") {
    const std::vector<float> weights{0.125F, 0.25F, 0.625F, 0.5F, 0.125F, 0.375F, 0, 0, 1};
    const auto confidence = [&](const std::vector<std::string>& tokens) {
        return head_metrics(weights, 3, 3, {.keys = tokens})[HeadScore::confidence];
    };
    CHECK(confidence({}) == Approx((0.625 + 0.5 + 1) / 3));
    CHECK(confidence({"a", "b", "c"}) == Approx((0.625 + 0.5 + 1) / 3));
    for (const char* const end :
         {"</s>", "<eos>", "[EOS]", "[SEP]", "<sep>", "<|endoftext|>", "<|end_of_text|>"}) {
        CHECK(confidence({"a", "b", end}) == Approx((0.25 + 0.5 + 0) / 3));
        CHECK(confidence({end, "b", end}) == Approx((0.25 + 0.125 + 0) / 3));
        CHECK(confidence({end, end, end}) == 0.0F);
    }
    CHECK(confidence({"<s>", "[CLS]", "c"}) == Approx((0.625 + 0.5 + 1) / 3));
    CHECK(head_metrics(weights, 3, 3)[HeadScore::largest] == Approx((0.625 + 0.5 + 1) / 3));
}

TEST_CASE("weight on earlier copies of a token and on what followed them is counted by tokens") {
    // a b a b a: row 4 reads its earlier copies at 2 and 0, and what followed these at 3 and 1.
    std::vector<float> weights(25, 0.0F);
    for (std::size_t i = 0; i < 4; ++i)
        weights[5 * i + i] = 1;
    std::ranges::copy(std::array{0.25F, 0.125F, 0.125F, 0.0625F, 0.4375F}, weights.begin() + 20);
    const HeadMetrics m = head_metrics(weights, 5, 5, {.keys = {"a", "b", "a", "b", "a"}});
    CHECK(m[HeadScore::duplicate_text] == Approx((0.25 + 0.125) / 5));
    CHECK(m[HeadScore::induction_text] == Approx((0.125 + 0.0625) / 5));
    // Ids say which tokens are the same where texts do not.
    const HeadMetrics other =
        head_metrics(weights, 5, 5, {.keys = {"a", "b", "a", "b", "a"}, .ids = {1, 2, 3, 2, 1}});
    CHECK(other[HeadScore::duplicate_text] == Approx(0.25 / 5));
    // "b b": what followed the first is the second, the row's own place.
    CHECK(head_metrics(std::vector<float>{1, 0, 0.25F, 0.75F}, 2, 2,
                       {.ids = {7, 7}})[HeadScore::induction_text] == Approx(0.75 / 2));
    CHECK_FALSE(head_metrics(weights, 5, 5).has(HeadScore::duplicate_text));
    CHECK_FALSE(head_metrics(weights, 5, 5).has(HeadScore::special));
}

TEST_CASE("weight on special tokens and on punctuation is counted by what the tokens say") {
    const std::vector<float> weights{0.5F, 0.125F, 0.25F, 0.125F, 0.25F, 0.25F, 0.25F, 0.25F};
    const HeadMetrics m = head_metrics(weights, 2, 4, {.keys = {"<s>", "\u0120cat", ",", "\u0120\u00AB"}});
    CHECK(m[HeadScore::special] == Approx((0.5 + 0.25) / 2));
    CHECK(head_metrics(weights, 2, 4, {.keys = {"[CLS]", "##s", "x.", "[UNK]"}})[HeadScore::special] ==
          Approx((0.5 + 0.25) / 2));
    const HeadMetrics marks = head_metrics(weights, 2, 4, {.keys = {"\u2581", "s!", "\u2581?!", "\u2014"}});
    CHECK(marks[HeadScore::punctuation] == Approx((0.25 + 0.125 + 0.25 + 0.25) / 2));
    CHECK(marks[HeadScore::special] == 0.0F);
    CHECK_FALSE(marks.has(HeadScore::duplicate_text)); // four keys for two queries
}

TEST_CASE("a head has a sink where the first token gets more than 0.3 of each row on average") {
    const auto sink = [](float second) {
        return head_metrics(std::vector<float>{0.25F, 0.75F, second, 1 - second}, 2, 2)[HeadScore::sink];
    };
    CHECK(sink(0.34F) == 0.0F);
    CHECK(sink(0.36F) == 1.0F);
    const HeadMetrics with = head_metrics(std::vector<float>{1, 0, 1, 0}, 2, 2),
                      without = head_metrics(std::vector<float>{0.5F, 0.5F, 0, 1}, 2, 2);
    CHECK(mean_of(std::array{with, with, without, with})[HeadScore::sink] == 0.75F);
    CHECK(mean_of(std::array{with, without})[HeadScore::self] == Approx(0.625));
    // The first token is also the previous one: of two equal scores the one of lower rank gives the label.
    CHECK(mean_of(std::array{with, with, without}).label() == "previous token");
    CHECK_FALSE(mean_of(std::array{with, without}).has(HeadScore::share));
}

TEST_CASE("the rows of a probe's second half tell what a head does with tokens that stood before") {
    // A first token, then two tokens twice: rows 3 and 4 are the second half.
    std::vector<float> weights(25, 0.0F);
    for (std::size_t i = 0; i < 3; ++i)
        weights[5 * i + i] = 1;
    std::ranges::copy(std::array{0.125F, 0.25F, 0.5F, 0.125F, 0.0F}, weights.begin() + 15);
    std::ranges::copy(std::array{0.0F, 0.0F, 0.0625F, 0.75F, 0.1875F}, weights.begin() + 20);
    const HeadMetrics m = head_metrics(weights, 5, 5, {.repeated = 2});
    CHECK(m[HeadScore::probe_duplicate] == Approx((0.25 + 0.0625) / 2));
    CHECK(m[HeadScore::probe_induction] == Approx((0.5 + 0.75) / 2));
    CHECK(m[HeadScore::probe_previous] == Approx((0.5 + 0.75) / 4));
    CHECK_FALSE(head_metrics(weights, 5, 5).has(HeadScore::probe_induction));
}

TEST_CASE("a cross-attention has no positions, though there are as many keys as queries") {
    const std::vector<float> weights{1, 0, 0, 1, 0, 0, 0, 1, 0};
    CHECK(head_metrics(weights, 3, 3).label() == "previous token");
    const HeadMetrics cross = head_metrics(weights, 3, 3, {.same = false});
    CHECK(cross.label().empty());
    CHECK_FALSE(cross.has(HeadScore::previous));
    CHECK_FALSE(cross.has(HeadScore::sink));
    CHECK(cross.has(HeadScore::entropy));
    Trace trace = with_weights(3, 3, weights);
    CHECK(only(trace).has(HeadScore::previous));
    trace.parts.cross = true;
    CHECK_FALSE(only(trace).has(HeadScore::previous));
    CHECK(score_applies(HeadScore::previous, 3, 3, true));
    CHECK_FALSE(score_applies(HeadScore::previous, 3, 3, false));
    CHECK_FALSE(score_applies(HeadScore::previous, 3, 2, true));
    CHECK(score_applies(HeadScore::entropy, 3, 2, false));
}

TEST_CASE("a batch's tokens stand one text after the other") {
    Trace trace = with_weights(2, 2, {1, 0, 0.25F, 0.75F});
    trace.dims.B = 2;
    trace.slot(TensorId::weights) =
        make_tensor({2, 1, 2, 2}, std::vector<float>{1, 0, 1, 0, 1, 0, 0.25F, 0.75F});
    const HeadTokens tokens{.keys = {"a", "b", "c", "[SEP]"}};
    CHECK(head_metrics(trace, 0, {}, tokens).front()[HeadScore::special] == 0.0F);
    CHECK(head_metrics(trace, 1, {}, tokens).front()[HeadScore::special] == Approx(0.75 / 2));
}

TEST_CASE("every score is found by its id, and each label has a letter of its own") {
    std::map<char, std::string_view> letters; // two scores may give the same label
    for (const HeadScoreInfo& info : head_scores()) {
        CAPTURE(info.id);
        CHECK(find_head_score(info.id) == &info);
        CHECK(&info_of(info.score) == &info);
        CHECK_FALSE(info.formula.empty());
        if (info.label.text.empty())
            continue;
        CHECK(letters.try_emplace(info.label.letter, info.label.text.english).first->second ==
              info.label.text.english);
    }
    CHECK(letters.size() == 6);
    CHECK(find_head_score("probe") == nullptr);
}
