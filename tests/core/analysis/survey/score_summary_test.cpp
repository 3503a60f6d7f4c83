#include "core/analysis/survey/score_summary.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace headscope::analysis;

namespace {

struct Scored {
    PieceName name;
    float score;
};

/// Scores of every size, many of them equal.
std::vector<Scored> made_scores(std::size_t count) {
    std::mt19937 draw(7);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<Scored> all;
    for (std::size_t n = 0; n < count; ++n) {
        const float x = uniform(draw);
        const float score = n % 5 == 0 ? 1.0F : n % 7 == 0 ? 0.0F : n % 3 == 0 ? 200.0F * x : x * x * x;
        all.push_back({{static_cast<std::int64_t>(n / 3 + 1), static_cast<std::int64_t>(n % 3)}, score});
    }
    return all;
}

ScoreSummary summary_of(std::span<const Scored> scores) {
    ScoreSummary summary;
    for (const Scored& of : scores)
        summary.add(of.name, of.score, [&](ScoredPiece& piece) {
            piece.query = static_cast<std::int32_t>(of.name.line);
            piece.weight = of.score / 2;
        });
    return summary;
}

bool same(const ScoredPiece& a, const ScoredPiece& b) {
    return a.name == b.name && a.query == b.query && a.key == b.key && a.score == b.score &&
           a.weight == b.weight;
}

bool same(const ScoreSummary& a, const ScoreSummary& b) {
    const ScoreSummary::Parts x = a.parts(), y = b.parts();
    return x.count == y.count && std::ranges::equal(x.sum, y.sum) &&
           std::ranges::equal(x.squares, y.squares) && x.smallest == y.smallest &&
           std::ranges::equal(x.largest, y.largest,
                              [](const ScoredPiece& p, const ScoredPiece& q) { return same(p, q); }) &&
           std::ranges::equal(x.buckets, y.buckets, [](const auto& p, const auto& q) {
               return p.number == q.number && p.count == q.count && same(p.typical, q.typical);
           });
}

} // namespace

TEST_CASE("a summary does not depend on the order of its pieces, nor on how they were divided", "[survey]") {
    std::vector<Scored> scores = made_scores(3000);
    const ScoreSummary whole = summary_of(scores);
    std::mt19937 draw(11);
    for (int round = 0; round < 4; ++round) {
        std::ranges::shuffle(scores, draw);
        CHECK(same(summary_of(scores), whole));
        const std::size_t cut = draw() % scores.size();
        ScoreSummary one = summary_of(std::span(scores).first(cut)),
                     other = summary_of(std::span(scores).subspan(cut));
        other.merge(ScoreSummary());
        one.merge(other);
        CHECK(same(one, whole));
        ScoreSummary read = ScoreSummary::from(other.parts());
        read.merge(summary_of(std::span(scores).first(cut)));
        CHECK(same(read, whole));
    }
}

TEST_CASE("a summary has the mean, the spread and the quantiles of its scores", "[survey]") {
    const std::vector<Scored> scores = made_scores(2000);
    const ScoreSummary summary = summary_of(scores);
    std::vector<double> sorted;
    for (const Scored& of : scores)
        sorted.push_back(static_cast<double>(of.score));
    std::ranges::sort(sorted);
    double sum = 0, squares = 0;
    for (const double score : sorted)
        sum += score;
    const double mean = sum / 2000;
    for (const double score : sorted)
        squares += (score - mean) * (score - mean);
    CHECK(summary.count() == 2000);
    CHECK(summary.mean() == Approx(mean).epsilon(1e-9));
    CHECK(summary.spread() == Approx(std::sqrt(squares / 2000)).epsilon(1e-9));
    CHECK(static_cast<double>(summary.smallest()) == sorted.front());
    CHECK(static_cast<double>(summary.largest().front().score) == sorted.back());
    for (int p = 0; p <= 100; ++p) {
        const double exact = sorted[static_cast<std::size_t>(p / 100.0 * 1999)];
        INFO(p);
        CHECK(std::abs(summary.quantile(p / 100.0) - exact) <= std::max(exact / 64, 1e-6));
        CHECK(std::abs(static_cast<double>(summary.typical(p / 100.0).score) - exact) <=
              std::max(exact / 64, 1e-6));
    }
    REQUIRE(summary.largest().size() == ScoreSummary::most_largest);
    for (std::size_t n = 1; n < ScoreSummary::most_largest; ++n)
        CHECK(summary.largest()[n - 1].score >= summary.largest()[n].score);
}

TEST_CASE("the spread of scores that hardly differ is not lost", "[survey]") {
    ScoreSummary summary;
    for (std::int64_t n = 0; n < 100000; ++n)
        summary.add({n + 1, 0}, 0.75F + (n % 2 == 0 ? 0x1p-20F : 0.0F), [](ScoredPiece&) {});
    CHECK(summary.spread() == Approx(0x1p-21).epsilon(1e-9));
    CHECK(summary.mean() == Approx(0.75 + 0x1p-21).epsilon(1e-12));
}

TEST_CASE("of equal scores the earlier pieces are the largest", "[survey]") {
    ScoreSummary summary;
    for (std::int64_t line = 40; line > 0; --line)
        summary.add({line, 0}, 1.0F, [](ScoredPiece&) {});
    for (std::size_t n = 0; n < ScoreSummary::most_largest; ++n)
        CHECK(summary.largest()[n].name.line == static_cast<std::int64_t>(n) + 1);
}
