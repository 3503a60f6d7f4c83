#include "core/analysis/passed_on.h"

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

/// Weights of two heads, row by row; rows sum to 1, and every key is read.
float flow_weight(std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j, std::int64_t T) {
    const auto raw = [&](std::int64_t key) {
        return std::exp(2 * std::sin(1.0 + 3.0 * static_cast<double>(l) + 1.7 * static_cast<double>(h) +
                                     0.9 * static_cast<double>(i) + 2.3 * static_cast<double>(key)));
    };
    double sum = 0;
    for (std::int64_t key = 0; key < T; ++key)
        sum += raw(key);
    return static_cast<float>(raw(j) / sum);
}

AttentionSetPtr layers_of(std::int64_t L, std::int64_t T) {
    return std::make_shared<MadeSet>(L, 2, T, std::vector<std::vector<std::string>>{},
                                     [T](std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
                                         return flow_weight(l, h, i, j, T);
                                     });
}

/// Half the mean over both heads, half the row's own input.
Eigen::MatrixXd mixed(std::int64_t l, std::int64_t T) {
    Eigen::MatrixXd out = 0.5 * Eigen::MatrixXd::Identity(T, T);
    for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t j = 0; j < T; ++j)
            out(i, j) += static_cast<double>(flow_weight(l, 0, i, j, T) + flow_weight(l, 1, i, j, T)) / 4;
    return out;
}

Eigen::MatrixXd last_head(const AttentionSet& set, std::int64_t l) {
    const AttentionInfo& info = set.info();
    std::vector<float> head(static_cast<std::size_t>(info.Tq * info.Tk));
    set.read_head(l, info.H - 1, head);
    using Rows = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    return Rows(head.data(), info.Tq, info.Tk).cast<double>();
}

/// The narrowest of all cuts between row i of layer l and input token j: by the theorem of Ford and
/// Fulkerson the largest flow. Vertex n T + i is row i of layer n - 1, or input token i.
double narrowest_cut(std::int64_t l, std::int64_t T, std::int64_t i, std::int64_t j) {
    const std::int64_t vertices = (l + 2) * T, from = (l + 1) * T + i;
    double narrowest = 1e9;
    for (std::uint64_t side = 0; side < (std::uint64_t{1} << static_cast<std::uint64_t>(vertices)); ++side) {
        const auto here = [&](std::int64_t v) { return (side >> static_cast<std::uint64_t>(v) & 1U) != 0; };
        if (!here(from) || here(j))
            continue;
        double width = 0;
        for (std::int64_t n = 0; n <= l; ++n)
            for (std::int64_t row = 0; row < T; ++row)
                for (std::int64_t key = 0; key < T; ++key)
                    if (here((n + 1) * T + row) && !here(n * T + key))
                        width += mixed(n, T)(row, key);
        narrowest = std::min(narrowest, width);
    }
    return narrowest;
}

} // namespace

TEST_CASE("a rollout multiplies the layers so far, half of each being its own input") {
    const auto set = with_reading(layers_of(3, 5), {.rollout = true});
    REQUIRE(set->info().H == 3);
    CHECK(set->info().L == 3);
    CHECK(head_name(set->info(), 2, 2) == "L2 rollout");
    CHECK(set->info().is_mean(0, 2));
    Eigen::MatrixXd rolled = Eigen::MatrixXd::Identity(5, 5);
    for (std::int64_t l = 0; l < 3; ++l) {
        rolled = mixed(l, 5).lazyProduct(rolled).eval();
        CHECK((last_head(*set, l) - rolled).cwiseAbs().maxCoeff() < 1e-6);
    }
    // In any order, and as a layer.
    const auto again = with_reading(layers_of(3, 5), {.rollout = true});
    CHECK((last_head(*again, 2) - rolled).cwiseAbs().maxCoeff() < 1e-6);
    CHECK(static_cast<double>(again->layer(2)->at(0, 2, 4, 1)) == Approx(rolled(4, 1)).epsilon(1e-5));
    CHECK(again->layer(1)->at(0, 1, 2, 3) == Approx(flow_weight(1, 1, 2, 3, 5)));
}

TEST_CASE("a flow is as wide as the narrowest cut, each row divided by its sum") {
    constexpr std::int64_t T = 3;
    const auto set = with_reading(layers_of(2, T), {.flow = true});
    CHECK(head_name(set->info(), 1, 2) == "L1 flow");
    for (std::int64_t l = 0; l < 2; ++l) {
        const Eigen::MatrixXd flow = last_head(*set, l);
        for (std::int64_t i = 0; i < T; ++i) {
            Eigen::RowVectorXd cuts(T);
            for (std::int64_t j = 0; j < T; ++j)
                cuts[j] = narrowest_cut(l, T, i, j);
            cuts /= cuts.sum();
            CHECK((flow.row(i) - cuts).cwiseAbs().maxCoeff() < 1e-6);
        }
    }
}

TEST_CASE("rollout and flow are offered where layers pass on to each other") {
    CHECK(readings_that_act(*layers_of(2, 4)).rollout);
    CHECK(readings_that_act(*layers_of(2, 64)).flow);
    CHECK_FALSE(readings_that_act(*layers_of(2, 65)).flow);
    const std::vector<std::string> other{"a", "b", "c", "d"};
    const MadeSet sequences(2, 2, 4, {other, other}, [](auto, auto, auto, auto) { return 0.25F; });
    CHECK_FALSE(readings_that_act(sequences).rollout);
    CHECK_FALSE(readings_that_act(sequences).flow);
    CHECK(turned({.means = true}, &ReadingOptions::flow) == ReadingOptions{.flow = true});
    CHECK(turned({.hide_first_token = true, .flow = true}, &ReadingOptions::flow) ==
          ReadingOptions{.hide_first_token = true});
    const auto stop = std::make_shared<Progress>();
    const auto set = with_reading(layers_of(2, 4), {.flow = true}, stop);
    stop->cancel();
    std::vector<float> head(16);
    CHECK_THROWS_AS(set->read_head(1, 2, head), Error);
}
