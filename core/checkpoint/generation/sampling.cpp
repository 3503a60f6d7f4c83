#include "core/checkpoint/generation/sampling.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace headscope::checkpoint {

namespace {

/// The vocabulary from the likeliest token on, sorted only as far as it is asked for.
class Order {
public:
    explicit Order(std::span<const float> logits) : logits_(logits), ids_(logits.size()) {
        std::iota(ids_.begin(), ids_.end(), std::int32_t{0});
    }
    std::size_t size() const { return ids_.size(); }
    std::int64_t id(std::size_t n) {
        if (n >= sorted_) {
            const std::size_t end = std::min(size(), std::max(n + 1, 4 * sorted_));
            const auto at = [this](std::size_t index) {
                return ids_.begin() + static_cast<std::ptrdiff_t>(index);
            };
            std::partial_sort(at(sorted_), at(end), ids_.end(), [this](std::int32_t a, std::int32_t b) {
                return logit_of(a) != logit_of(b) ? logit_of(a) > logit_of(b) : a < b;
            });
            sorted_ = end;
        }
        return ids_[n];
    }
    float logit(std::size_t n) { return logit_of(id(n)); }

private:
    float logit_of(std::int64_t id) const { return logits_[static_cast<std::size_t>(id)]; }

    std::span<const float> logits_;
    std::vector<std::int32_t> ids_;
    std::size_t sorted_ = 0;
};

/// The sum of exp((logit - largest) / temperature) over the vocabulary.
double exponential_sum(std::span<const float> logits, double largest, double temperature) {
    return std::transform_reduce(logits.begin(), logits.end(), 0.0, std::plus<>(), [&](float logit) {
        return std::exp((static_cast<double>(logit) - largest) / temperature);
    });
}

/// Uniform in [0, 1): number `step` of the generator that begins with `seed`.
double uniform_number(std::uint64_t seed, std::int64_t step) {
    return text::RandomNumbers(seed, static_cast<std::uint64_t>(step)).fraction();
}

} // namespace

void check_settings(const SamplingSettings& settings) {
    if (!std::isfinite(settings.temperature) || settings.temperature < 0)
        fail_input(tr("sampling.temperature_sampling_should_0",
                      "the sampling temperature is {}; it should be 0, for the likeliest token, or above 0",
                      fmt::format("{}", settings.temperature)));
    if (settings.top_k && *settings.top_k < 1)
        fail_input(
            tr("sampling.top_k_should_least", "top-k is {}; it should be at least 1", *settings.top_k));
    if (settings.top_p && !(*settings.top_p > 0 && *settings.top_p <= 1))
        fail_input(tr("sampling.top_p_should_above", "top-p is {}; it should be above 0 and at most 1",
                      fmt::format("{}", *settings.top_p)));
}

Distribution sample(std::span<const float> logits, const SamplingSettings& settings, std::int64_t step,
                    std::size_t listed) {
    check_settings(settings);
    if (logits.empty())
        throw Error(ErrorKind::internal, "a token is drawn from an empty vocabulary");
    Order order(logits);
    const bool greedy = settings.temperature == 0;
    const double largest = order.logit(0), sum = exponential_sum(logits, largest, 1.0);
    const double temperature = greedy ? 1.0 : settings.temperature;
    const double tempered_sum = temperature == 1.0 ? sum : exponential_sum(logits, largest, temperature);
    const auto tempered = [&](std::size_t n) {
        return std::exp((order.logit(n) - largest) / temperature) / tempered_sum;
    };
    Distribution result;
    std::size_t kept = order.size();
    double share = 1.0; // of the tempered probability that is kept
    if (greedy) {
        kept = 1;
        share = tempered(0);
    } else if (settings.top_k && static_cast<std::size_t>(*settings.top_k) < kept) {
        kept = static_cast<std::size_t>(*settings.top_k);
        share = 0.0;
        for (std::size_t n = 0; n < kept; ++n)
            share += tempered(n);
    }
    if (!greedy && settings.top_p && *settings.top_p < 1) {
        const double wanted = *settings.top_p * share;
        std::size_t n = 0;
        for (share = 0.0; n < kept && share < wanted; ++n)
            share += tempered(n);
        kept = n;
    }
    result.kept = static_cast<std::int64_t>(kept);
    if (!greedy)
        result.draw = uniform_number(settings.seed, step);
    const double needle = result.draw.value_or(0.0);
    bool found = false;
    double before = 0.0;
    for (std::size_t n = 0; n < order.size() && (n < listed || !found); ++n) {
        Candidate one{.id = order.id(n),
                      .logit = order.logit(n),
                      .probability = std::exp(order.logit(n) - largest) / sum,
                      .tempered = tempered(n)};
        if (n < kept)
            one.kept = one.tempered / share;
        before += one.kept;
        // The lengths of all that is kept may add up to a little less than 1.
        if (!found && (before > needle || n + 1 == kept)) {
            found = true;
            result.taken = n;
        }
        result.candidates.push_back(one);
    }
    return result;
}

} // namespace headscope::checkpoint
