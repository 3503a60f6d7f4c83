#include "core/checkpoint/generation/sampling.h"

#include "tests/catch.h"
#include "tests/support.h"

#include <cmath>
#include <limits>

using namespace headscope;
using namespace headscope::checkpoint;
using Catch::Contains;

namespace {

/// Probabilities 0.1, 0.4, 0.2, 0.05, 0.25 at temperature 1, whatever the 3 does.
std::vector<float> some_logits() {
    std::vector<float> logits;
    for (const double p : {0.1, 0.4, 0.2, 0.05, 0.25})
        logits.push_back(static_cast<float>(std::log(p) + 3));
    return logits;
}

Distribution all_of(const SamplingSettings& settings, std::int64_t step = 0) {
    return sample(some_logits(), settings, step, 5);
}

} // namespace

TEST_CASE("greedy takes the largest logit, of equals the lower id, and draws nothing") {
    const Distribution next = all_of({});
    CHECK(next.candidates.front().id == 1);
    CHECK((next.taken == 0 && next.kept == 1 && !next.draw));
    CHECK(next.share(next.taken) == Approx(0.4));
    const std::vector<float> equal{1, 2, 2, 0};
    const Distribution tie = sample(equal, {}, 0, 0);
    REQUIRE(tie.candidates.size() == 1);
    CHECK(tie.candidates[0].id == 1);
}

TEST_CASE("temperature, top-k and top-p follow each other, each renormalised") {
    using Shares = std::vector<double>;
    const auto kept = [](const SamplingSettings& settings) {
        Shares shares;
        for (const Candidate& one : all_of(settings).candidates)
            shares.push_back(std::round(one.kept * 1e6) / 1e6);
        return shares;
    };
    std::vector<std::int64_t> ids;
    for (const Candidate& one : all_of({.temperature = 1, .top_k = {}, .top_p = {}}).candidates)
        ids.push_back(one.id);
    CHECK(ids == std::vector<std::int64_t>{1, 4, 2, 0, 3});
    CHECK(kept({.temperature = 1, .top_k = {}, .top_p = {}}) == Shares{0.4, 0.25, 0.2, 0.1, 0.05});
    // Squares at temperature 1/2: 0.16, 0.0625, 0.04, 0.01, 0.0025 of 0.275.
    CHECK(kept({.temperature = 0.5, .top_k = {}, .top_p = {}}) ==
          Shares{0.581818, 0.227273, 0.145455, 0.036364, 0.009091});
    CHECK(kept({.temperature = 1, .top_k = 2, .top_p = {}}) == Shares{0.615385, 0.384615, 0, 0, 0});
    CHECK(kept({.temperature = 1, .top_k = 100, .top_p = {}}) == Shares{0.4, 0.25, 0.2, 0.1, 0.05});
    // 0.4 and 0.25 do not reach 0.7, with 0.2 they do.
    CHECK(kept({.temperature = 1, .top_k = {}, .top_p = 0.7}) == Shares{0.470588, 0.294118, 0.235294, 0, 0});
    CHECK(kept({.temperature = 1, .top_k = {}, .top_p = 0.01}) == Shares{1, 0, 0, 0, 0});
    // Top-k keeps three tokens; 0.470588 and 0.294118 of them reach 0.7.
    CHECK(kept({.temperature = 1, .top_k = 3, .top_p = 0.7}) == Shares{0.615385, 0.384615, 0, 0, 0});
    const Distribution cut = all_of({.temperature = 0.5, .top_k = 2, .top_p = {}});
    CHECK(cut.kept == 2);
    CHECK(cut.candidates[2].probability == Approx(0.2));
    CHECK(cut.candidates[2].tempered == Approx(0.145455).epsilon(1e-5));
}

TEST_CASE("draws are uniform, those of a seed and a step are always the same, and each takes its token") {
    const SamplingSettings settings{.temperature = 1, .top_k = {}, .top_p = {}, .seed = 7};
    std::vector<int> taken(5);
    constexpr int steps = 20000;
    double mean = 0;
    for (int step = 0; step < steps; ++step) {
        const Distribution next = sample(some_logits(), settings, step, 0);
        REQUIRE(next.draw.has_value());
        mean += *next.draw / steps;
        double before = 0;
        for (std::size_t n = 0; n < next.taken; ++n)
            before += next.candidates[n].kept;
        CHECK((before <= *next.draw && *next.draw < before + next.share(next.taken)));
        ++taken[static_cast<std::size_t>(next.candidates[next.taken].id)];
    }
    CHECK(mean == Approx(0.5).margin(0.01));
    for (const auto& [id, share] :
         {std::pair(0, 0.1), std::pair(1, 0.4), std::pair(2, 0.2), std::pair(3, 0.05), std::pair(4, 0.25)})
        CHECK(taken[static_cast<std::size_t>(id)] / double{steps} == Approx(share).margin(0.015));
    // The published outputs of splitmix64: seed 1234567 begins with 6457827717110365317 and
    // 3203168211198807973.
    CHECK(*all_of({.temperature = 1, .top_k = {}, .top_p = {}, .seed = 1234567}, 0).draw ==
          static_cast<double>(6457827717110365317U >> 11U) * 0x1p-53);
    CHECK(*all_of({.temperature = 1, .top_k = {}, .top_p = {}, .seed = 1234567}, 1).draw ==
          static_cast<double>(3203168211198807973U >> 11U) * 0x1p-53);
}

TEST_CASE("settings out of range are named") {
    const auto fault = [](const SamplingSettings& settings) {
        return input_error([&] { all_of(settings); });
    };
    CHECK_THAT(fault({.temperature = -0.5, .top_k = {}, .top_p = {}}),
               Contains("the sampling temperature is -0.5;"));
    CHECK_THAT(fault({.temperature = std::nan(""), .top_k = {}, .top_p = {}}), Contains("temperature"));
    CHECK_THAT(fault({.temperature = 1, .top_k = 0, .top_p = {}}), Contains("top-k is 0"));
    CHECK_THAT(fault({.temperature = 1, .top_k = {}, .top_p = 0.0}), Contains("top-p"));
    CHECK_THAT(fault({.temperature = 1, .top_k = {}, .top_p = 1.5}), Contains("top-p is 1.5;"));
    CHECK_THAT(fault({.temperature = 1, .top_k = {}, .top_p = std::nan("")}), Contains("top-p"));
}
