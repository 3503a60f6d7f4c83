#include "core/analysis/read_set.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/analysis/made_set.h"

#include <Eigen/Core>
#include <cmath>

using namespace headscope;
using namespace headscope::analysis;
using headscope::test::MadeSet;

namespace {

using List = std::vector<std::string>;

/// Causal, rows of sums 1, no two weights alike.
float causal_weight(std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
    const auto raw = [&](std::int64_t key) {
        return std::exp(std::sin(1.0 + 3.0 * static_cast<double>(l) + 1.7 * static_cast<double>(h) +
                                 0.9 * static_cast<double>(i) + 2.3 * static_cast<double>(key)));
    };
    double sum = 0;
    for (std::int64_t key = 0; key <= i; ++key)
        sum += raw(key);
    return j <= i ? static_cast<float>(raw(j) / sum) : 0.0F;
}

/// "[CLS] unhappy Anna . [SEP]"
const List pieces{"[CLS]", "un", "##hap", "##py", "Anna", ".", "[SEP]"};

AttentionSetPtr made(std::int64_t L, std::int64_t H) {
    return std::make_shared<MadeSet>(L, H, 7, std::vector<List>{pieces}, causal_weight);
}

/// The same as products of matrices: which held row or column goes into which place.
Eigen::MatrixXd expected(std::int64_t l, std::int64_t h, const std::vector<std::vector<int>>& places,
                         bool first_out, bool renormalise) {
    Eigen::MatrixXd held(7, 7), sum = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(places.size()), 7);
    for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 7; ++j)
            held(i, j) = static_cast<double>(causal_weight(l, h, i, j));
    if (first_out)
        held.col(0).setZero();
    Eigen::MatrixXd mean = sum;
    for (Eigen::Index p = 0; p < sum.rows(); ++p)
        for (const int piece : places[static_cast<std::size_t>(p)]) {
            sum(p, piece) = 1;
            mean(p, piece) = 1.0 / static_cast<double>(places[static_cast<std::size_t>(p)].size());
        }
    Eigen::MatrixXd read = mean.lazyProduct(held.lazyProduct(sum.transpose()).eval());
    for (Eigen::Index row = 0; renormalise && row < read.rows(); ++row)
        if (read.row(row).sum() > 0)
            read.row(row) /= read.row(row).sum();
    return read;
}

void check(const AttentionSet& set, std::int64_t l, std::int64_t h, const Eigen::MatrixXd& wanted) {
    REQUIRE(set.info().Tq == wanted.rows());
    REQUIRE(set.info().Tk == wanted.cols());
    std::vector<float> read(static_cast<std::size_t>(wanted.size()));
    set.read_head(l, h, read);
    for (Eigen::Index i = 0; i < wanted.rows(); ++i)
        for (Eigen::Index j = 0; j < wanted.cols(); ++j)
            CHECK(read[static_cast<std::size_t>(i * wanted.cols() + j)] ==
                  Approx(wanted(i, j)).margin(1e-7).epsilon(1e-6));
}

const std::vector<std::vector<int>> every{{0}, {1}, {2}, {3}, {4}, {5}, {6}};
const std::vector<std::vector<int>> words{{0}, {1, 2, 3}, {4}, {5}, {6}};
const std::vector<std::vector<int>> inner{{1}, {2}, {3}, {4}, {5}};
const std::vector<std::vector<int>> inner_words{{1, 2, 3}, {4}, {5}};

} // namespace

TEST_CASE("each way to read weights is what its definition says, in double precision") {
    const AttentionSetPtr held = made(2, 2);
    SECTION("the first token hidden") {
        const auto set = with_reading(held, {.hide_first_token = true});
        check(*set, 1, 1, expected(1, 1, every, true, true));
        CHECK(set->info().reading == "first token hidden, rows renormalized");
        CHECK(set->query_tokens(0) == pieces);
        // Query 0 read key 0 alone.
        CHECK(set->layer(0)->at(0, 0, 0, 0) == 0);
    }
    SECTION("special tokens hidden") {
        const auto set = with_reading(held, {.hide_special_tokens = true});
        check(*set, 0, 1, expected(0, 1, inner, false, true));
        CHECK(set->query_tokens(0) == List{"un", "##hap", "##py", "Anna", "."});
        CHECK(&set->key_tokens(0) == &set->query_tokens(0));
    }
    SECTION("pieces merged") {
        const auto set = with_reading(held, {.merge_words = true});
        check(*set, 1, 0, expected(1, 0, words, false, false));
        CHECK(set->query_tokens(0) == List{"[CLS]", "unhappy", "Anna", ".", "[SEP]"});
        CHECK(set->info().reading == "words merged");
        CHECK_FALSE(set->info().renormalised);
    }
    SECTION("all of it") {
        const auto set =
            with_reading(held, {.hide_first_token = true, .hide_special_tokens = true, .merge_words = true});
        check(*set, 1, 0, expected(1, 0, inner_words, true, true));
        CHECK(set->info().reading ==
              "first token hidden, special tokens hidden, rows renormalized; words merged");
    }
}

TEST_CASE("norm-weighted rows are shares of weight times length") {
    const auto length = [](std::int64_t l, std::int64_t h, std::int64_t j) {
        return 0.5F + static_cast<float>((5 * l + 3 * h + 7 * j) % 11);
    };
    const auto held = std::make_shared<MadeSet>(2, 2, 7, std::vector<List>{pieces}, causal_weight);
    CHECK_FALSE(readings_that_act(*held).norm_weighted);
    held->set_brought(length);
    const auto shares = [&](std::int64_t l, std::int64_t h, std::int64_t hidden) {
        Eigen::MatrixXd out(7, 7);
        for (int i = 0; i < 7; ++i)
            for (int j = 0; j < 7; ++j)
                out(i, j) = j < hidden ? 0 : static_cast<double>(causal_weight(l, h, i, j) * length(l, h, j));
        for (int i = 0; i < 7; ++i)
            if (out.row(i).sum() > 0)
                out.row(i) /= out.row(i).sum();
        return out;
    };
    const auto set = with_reading(held, {.norm_weighted = true});
    check(*set, 1, 0, shares(1, 0, 0));
    check(*set, 0, 1, shares(0, 1, 0));
    CHECK(set->layer(1)->at(0, 1, 6, 2) == Approx(shares(1, 1, 0)(6, 2)));
    CHECK(set->info().reading == "weighted by the norm of what each key adds, rows renormalized");
    const auto hidden = with_reading(held, {.norm_weighted = true, .hide_first_token = true, .means = true});
    check(*hidden, 1, 1, shares(1, 1, 1));
    check(*hidden, 2, 0, (shares(0, 0, 1) + shares(1, 0, 1)) / 2);
}

TEST_CASE("means are one more head and one more layer, of the weights as they are read") {
    const ReadingOptions options{.hide_special_tokens = true, .means = true};
    const auto set = with_reading(made(3, 2), options);
    const AttentionInfo& info = set->info();
    REQUIRE(info.L == 4);
    REQUIRE(info.H == 3);
    CHECK(info.own_layers() == 3);
    CHECK(info.own_heads() == 2);
    CHECK(layer_name(info, 3) == "mean");
    CHECK(head_name(info, 1, 1) == "L1 H1");
    CHECK(head_name(info, 1, 2) == "L1 mean");
    CHECK(head_name(info, 3, 0) == "H0 mean");
    CHECK(head_name(info, 3, 2) == "mean of all");
    const auto head = [](std::int64_t l, std::int64_t h) { return expected(l, h, inner, false, true); };
    check(*set, 1, 2, (head(1, 0) + head(1, 1)) / 2);
    check(*set, 3, 1, (head(0, 1) + head(1, 1) + head(2, 1)) / 3);
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(5, 5);
    for (int l = 0; l < 3; ++l)
        all += (head(l, 0) + head(l, 1)) / 6;
    check(*set, 3, 2, all);
    SECTION("the mean of a layer's trace leaves the further head out") {
        Progress progress;
        const Trace trace = attention_trace(*set, 1, progress);
        const Tensor& weights = *trace.stage(TensorId::weights);
        CHECK(trace.stage(TensorId::weights_mean)->at(0, 3, 1) == weights.at(0, 2, 3, 1));
    }
}

TEST_CASE("a head that reads nothing takes no part in a mean") {
    const auto held = std::make_shared<MadeSet>(
        1, 3, 2, std::vector<List>{}, [](std::int64_t, std::int64_t h, std::int64_t i, std::int64_t j) {
            return i == 1 && h == 2 ? 0.0F : j == h % 2 ? 1.0F : 0.0F;
        });
    const auto set = with_reading(held, {.means = true});
    const TensorPtr layer = set->layer(0);
    const Tensor& weights = *layer;
    CHECK(weights.at(0, 3, 0, 0) == Approx(2.0 / 3));
    CHECK(weights.at(0, 3, 1, 0) == 0.5F);
    CHECK(weights.at(0, 3, 1, 1) == 0.5F);
}

TEST_CASE("a row that softmax could not have given is not mended by being read") {
    const auto weight = [](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) {
        if (i == 0)
            return j == 0 ? 0.75F : j == 1 ? 0.25F : 0.5F; // sums to 1.5
        if (i == 1)
            return j == 1 ? NAN : 0.25F;
        return j == 0 ? 0.5F : 0.25F;
    };
    const auto held = std::make_shared<MadeSet>(1, 1, 3, std::vector<List>{}, weight);
    const TensorPtr layer = with_reading(held, {.hide_first_token = true})->layer(0);
    const Tensor& read = *layer;
    CHECK(read.at(0, 0, 0, 0) == 0);
    CHECK(read.at(0, 0, 0, 2) == 0.5F);
    CHECK(std::isnan(read.at(0, 0, 1, 1)));
    CHECK(read.at(0, 0, 1, 2) == 0.25F);
    CHECK(read.at(0, 0, 2, 2) == 0.5F);
}

TEST_CASE("sequences keep their own tokens, and the shorter end in rows of zeros") {
    const std::vector<List> lists{{"[CLS]", "a", "b", "[SEP]"}, {"[CLS]", "a", "[SEP]", "[PAD]"}};
    const auto held = std::make_shared<MadeSet>(2, 2, 4, lists, causal_weight);
    const auto set = with_reading(held, {.hide_special_tokens = true, .means = true});
    CHECK(set->info().Tq == 2);
    CHECK_FALSE(set->info().mean_layer); // other sequences have other words at the same place
    CHECK(set->info().made_head.english == "mean");
    CHECK(set->query_tokens(0) == List{"a", "b"});
    CHECK(set->query_tokens(1) == List{"a", "—"});
    const TensorPtr layer = set->layer(1);
    const Tensor& second = *layer;
    CHECK(second.at(0, 0, 0, 0) == 1);
    CHECK(second.at(0, 0, 1, 0) == 0);
    CHECK(second.at(0, 0, 1, 1) == 0);
}

TEST_CASE("what would leave nothing, and what does nothing") {
    const auto specials =
        std::make_shared<MadeSet>(1, 1, 2, std::vector<List>{{"<s>", "</s>"}}, causal_weight);
    CHECK_THROWS_WITH(with_reading(specials, {.hide_special_tokens = true}),
                      Catch::Contains("would leave nothing"));
    const auto plain = std::make_shared<MadeSet>(1, 1, 2, std::vector<List>{{"a", "b"}}, causal_weight);
    CHECK(with_reading(plain, {.hide_special_tokens = true, .merge_words = true, .means = true}) == plain);
    CHECK(readings_that_act(*plain) == ReadingOptions{.hide_first_token = true});
    CHECK(readings_that_act(*made(2, 1)) == ReadingOptions{.hide_first_token = true,
                                                           .hide_special_tokens = true,
                                                           .merge_words = true,
                                                           .means = true,
                                                           .rollout = true,
                                                           .flow = true});
}

TEST_CASE("a place is found again where the set is read otherwise") {
    const AttentionSetPtr held = made(1, 1);
    const auto read = with_reading(held, {.hide_special_tokens = true, .merge_words = true});
    CHECK(same_query(*held, *read, 0, 3) == 0); // ##py is in "unhappy"
    CHECK(same_key(*held, *read, 0, 5) == 2);   // "."
    CHECK(same_query(*held, *read, 0, 0) == std::nullopt);
    CHECK(same_query(*read, *held, 0, 1) == 4);
    CHECK(same_key(*held, *held, 0, 6) == 6);
}

TEST_CASE("a mean that nobody waits for any more ends") {
    auto stop = std::make_shared<Progress>();
    const auto set = with_reading(made(2, 2), {.means = true}, stop);
    stop->cancel();
    CHECK_THROWS_AS(set->layer(2), Error);
    std::vector<float> room(49);
    CHECK_THROWS_AS(set->read_head(2, 2, room), Error);
    CHECK_NOTHROW(set->read_head(0, 0, room));
}
