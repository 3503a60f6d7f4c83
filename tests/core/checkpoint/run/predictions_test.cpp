#include "core/checkpoint/generation/predictions.h"

#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace headscope;
using namespace headscope::checkpoint;

namespace {

std::vector<float> random_logits(std::size_t count, unsigned seed, float spread) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> logits(count);
    std::ranges::generate(logits, [&] { return normal(random); });
    return logits;
}

/// By the definition, in long double.
std::vector<long double> softmax(const std::vector<float>& logits) {
    std::vector<long double> p(logits.begin(), logits.end());
    const long double largest = std::ranges::max(p);
    for (long double& v : p)
        v = std::exp(v - largest);
    const long double sum = std::accumulate(p.begin(), p.end(), 0.0L);
    for (long double& v : p)
        v /= sum;
    return p;
}

long double divergence(const std::vector<long double>& p, const std::vector<long double>& q) {
    long double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        sum += p[i] > 0 ? p[i] * (std::log(p[i]) - std::log(q[i])) : 0;
    return sum;
}

} // namespace

TEST_CASE("the likeliest tokens are those of a softmax over the whole vocabulary") {
    for (const float spread : {0.0F, 1.0F, 20.0F}) {
        const auto logits = random_logits(5000, 3, spread);
        const auto p = softmax(logits);
        const auto top = likeliest(logits, 10);
        REQUIRE(top.size() == 10);
        for (std::size_t n = 0; n < top.size(); ++n) {
            const auto id = static_cast<std::size_t>(top[n].id);
            CHECK(top[n].probability == Approx(static_cast<double>(p[id])).epsilon(1e-6));
            const auto likelier = std::ranges::count_if(p, [&](long double v) { return v > p[id]; });
            CHECK(likelier <= static_cast<std::ptrdiff_t>(n));
        }
        CHECK(std::ranges::is_sorted(top, std::greater<>(), &TokenChance::probability));
    }
    // Of equals the smaller id; no more than there are.
    const auto equal = likeliest(std::vector<float>{1, 2, 2, 2}, 9);
    REQUIRE(equal.size() == 4);
    CHECK((equal[0].id == 1 && equal[1].id == 2 && equal[2].id == 3 && equal[3].id == 0));
}

TEST_CASE("the shift of a prediction is its KL divergence and the tokens that moved most") {
    for (const float spread : {0.01F, 1.0F, 15.0F}) {
        const auto before = random_logits(3000, 5, spread), after = random_logits(3000, 6, spread);
        const auto p = softmax(before), q = softmax(after);
        const PredictionShift shift = compare_predictions(before, after, 8);
        CHECK(shift.kl == Approx(static_cast<double>(divergence(p, q))).epsilon(1e-9).margin(1e-12));
        std::vector<double> moves;
        for (std::size_t i = 0; i < p.size(); ++i)
            moves.push_back(static_cast<double>(std::abs(p[i] - q[i])));
        std::ranges::sort(moves, std::greater<>());
        REQUIRE(shift.moved.size() == 8);
        for (std::size_t n = 0; n < 8; ++n) {
            const auto id = static_cast<std::size_t>(shift.moved[n].id);
            CHECK(static_cast<double>(std::abs(p[id] - q[id])) == Approx(moves[n]).epsilon(1e-9));
            CHECK(shift.moved[n].before == Approx(static_cast<double>(p[id])).epsilon(1e-6));
            CHECK(shift.moved[n].after == Approx(static_cast<double>(q[id])).epsilon(1e-6));
        }
    }
    const auto same = random_logits(100, 9, 2.0F);
    const PredictionShift none = compare_predictions(same, same, 3);
    CHECK(none.kl == 0.0);
    CHECK((none.moved.size() == 3 && none.moved[0].before == none.moved[0].after));
}
