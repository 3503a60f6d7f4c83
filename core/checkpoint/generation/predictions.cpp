#include "core/checkpoint/generation/predictions.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::checkpoint {

namespace {

bool are_finite(std::span<const float> logits) {
    return std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
}

/// ln of the sum of exp over the vocabulary, in double.
double log_sum(std::span<const float> logits) {
    if (logits.empty())
        throw Error(ErrorKind::internal, "predictions of an empty vocabulary are asked for");
    if (!are_finite(logits))
        fail_input(not_finite_logits(std::nullopt));
    const double largest = std::ranges::max(logits);
    return largest + std::log(std::transform_reduce(logits.begin(), logits.end(), 0.0, std::plus<>(),
                                                    [&](float logit) { return std::exp(logit - largest); }));
}

/// The `count` ids that come first by `before`, in order.
template<class Before>
std::vector<std::int64_t> first_ids(std::size_t vocab, std::size_t count, Before before) {
    std::vector<std::int64_t> ids(vocab);
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, vocab));
    std::partial_sort(ids.begin(), end, ids.end(), before);
    ids.erase(end, ids.end());
    return ids;
}

} // namespace

std::string not_finite_logits(std::optional<std::int64_t> position) {
    return position ? tr("predictions.logits_after_token_leave",
                         "the logits after token {} leave float32's range; check the weights and head gains",
                         *position)
                    : tr("predictions.logits_leave_float32s_range",
                         "the logits leave float32's range; check the weights and head gains");
}

void require_finite_logits(std::span<const float> logits, std::int64_t position) {
    if (!are_finite(logits))
        fail_input(not_finite_logits(position));
}

std::vector<TokenChance> likeliest(std::span<const float> logits, std::size_t count) {
    const double log_all = log_sum(logits);
    const auto logit = [&](std::int64_t id) { return logits[static_cast<std::size_t>(id)]; };
    std::vector<TokenChance> chances;
    for (const std::int64_t id : first_ids(logits.size(), count, [&](std::int64_t a, std::int64_t b) {
             return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
         }))
        chances.push_back({id, static_cast<float>(std::exp(logit(id) - log_all))});
    return chances;
}

std::vector<float> chances_of(std::span<const float> logits, std::span<const std::int64_t> ids) {
    const double log_all = log_sum(logits);
    std::vector<float> chances;
    for (const std::int64_t id : ids)
        chances.push_back(static_cast<float>(std::exp(logits[static_cast<std::size_t>(id)] - log_all)));
    return chances;
}

PredictionShift compare_predictions(std::span<const float> before, std::span<const float> after,
                                    std::size_t count) {
    if (before.size() != after.size())
        throw Error(ErrorKind::internal, "predictions over two vocabularies are compared");
    const double log_before = log_sum(before), log_after = log_sum(after);
    PredictionShift shift;
    std::vector<double> moves(before.size());
    for (std::size_t id = 0; id < before.size(); ++id) {
        const double was = before[id] - log_before, is = after[id] - log_after; // ln of the probabilities
        moves[id] = std::exp(is) - std::exp(was);
        shift.kl += std::exp(was) * (was - is);
    }
    shift.kl = std::max(shift.kl, 0.0); // rounding may leave a little less
    for (const std::int64_t id : first_ids(before.size(), count, [&](std::int64_t a, std::int64_t b) {
             const double of_a = std::abs(moves[static_cast<std::size_t>(a)]);
             const double of_b = std::abs(moves[static_cast<std::size_t>(b)]);
             return of_a != of_b ? of_a > of_b : a < b;
         })) {
        const auto at = static_cast<std::size_t>(id);
        shift.moved.push_back({id, static_cast<float>(std::exp(before[at] - log_before)),
                               static_cast<float>(std::exp(after[at] - log_after))});
    }
    return shift;
}

} // namespace headscope::checkpoint
