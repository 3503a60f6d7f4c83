#include "core/analysis/heads/head_facts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace headscope::analysis {

namespace {

constexpr std::size_t most_strongest = 24;

/// Keeps the largest weights that it is shown.
class Strongest {
public:
    void offer(const PlacedWeight& weight) {
        if (kept_.size() == most_strongest && weight.value <= kept_.front().value)
            return;
        if (kept_.size() == most_strongest) {
            std::ranges::pop_heap(kept_, larger);
            kept_.pop_back();
        }
        kept_.push_back(weight);
        std::ranges::push_heap(kept_, larger);
    }
    std::vector<PlacedWeight> sorted() {
        std::ranges::sort(kept_, larger);
        return std::move(kept_);
    }

private:
    static bool larger(const PlacedWeight& a, const PlacedWeight& b) { return a.value > b.value; }
    std::vector<PlacedWeight> kept_; ///< a heap with the smallest in front
};

/// Notes what is wrong with single weights and returns the largest of the row.
float inspect_row(HeadFacts& facts, std::span<const float> row, std::int64_t i, float slack) {
    float largest = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
        const float value = row[j];
        if (value >= -slack && value <= 1 + slack) {
            largest = std::max(largest, value);
            continue;
        }
        const PlacedWeight place{i, static_cast<std::int64_t>(j), value};
        if (!std::isfinite(value)) {
            if (facts.not_finite++ == 0)
                facts.first_not_finite = place;
        } else {
            largest = std::max(largest, value);
            if (facts.outside++ == 0)
                facts.first_outside = place;
        }
    }
    return largest;
}

/// The sum without what is not finite.
double sum_of(std::span<const float> row) {
    double sum = 0;
    for (const float value : row)
        sum += std::isfinite(value) ? static_cast<double>(value) : 0.0;
    return sum;
}

bool all_zero(std::span<const float> row) {
    return std::ranges::all_of(row, [](float value) { return value == 0.0F; });
}

} // namespace

float sum_deviation(std::span<const float> row) {
    return all_zero(row) ? 0.0F : static_cast<float>(std::abs(sum_of(row) - 1.0));
}

std::vector<PlacedWeight> acting_cells(HeadScore score, std::span<const float> weights, std::int64_t Tk,
                                       const KeyFacts& keys, std::size_t most) {
    struct Acting {
        PlacedWeight cell;
        double counts;
    };
    std::vector<Acting> found; // the largest first
    // limit: what a weight of 1 can count at most. Few cells pass it, once some that count much are found.
    const auto look = [&](double limit, const auto& count) {
        for (std::int64_t i = 0; i < std::ssize(weights) / Tk; ++i) {
            const auto first = static_cast<std::size_t>(i * Tk);
            const WeightRow row{weights.subspan(first, static_cast<std::size_t>(Tk)), i, keys};
            if (i == 0 && row.weights.front() == 1.0F)
                continue;
            Acting best{{}, found.size() < most ? 0 : found.back().counts};
            const double passed = best.counts;
            for (std::size_t j = 0; j < row.weights.size(); ++j) {
                const float weight = row.weights[j];
                if (!(static_cast<double>(weight) * limit > best.counts))
                    continue;
                if (const double counts = count(row, j); counts > best.counts)
                    best = {{i, static_cast<std::int64_t>(j), weight}, counts};
            }
            if (best.counts == passed)
                continue;
            if (found.size() == most)
                found.pop_back();
            found.insert(std::ranges::upper_bound(found, best.counts, std::greater(), &Acting::counts), best);
        }
    };
    if (const auto acts = info_of(score).acts; acts != nullptr)
        look(largest_score(score, Tk), acts);
    if (found.empty())
        look(1, [](const WeightRow& row, std::size_t j) {
            return j > 0 ? static_cast<double>(row.weights[j]) : 0.0;
        });
    std::vector<PlacedWeight> cells;
    std::ranges::transform(found, std::back_inserter(cells), &Acting::cell);
    return cells;
}

PlacedWeight acting_cell(HeadScore score, std::span<const float> weights, std::int64_t Tk,
                         const KeyFacts& keys) {
    const auto cells = acting_cells(score, weights, Tk, keys, 1);
    return cells.empty() ? PlacedWeight{0, 0, weights.front()} : cells.front();
}

HeadTokens key_tokens_of(const AttentionSet& set, std::int64_t l) {
    const std::vector<std::string>& pieces = set.key_pieces(l);
    return {.keys = pieces.empty() ? set.key_tokens(l) : pieces, .same = !set.info().cross};
}

HeadFacts head_facts(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk, float sum_tolerance,
                     const HeadTokens& tokens, bool sinks) {
    HeadFacts facts;
    facts.causal = Tk > 1;
    // A weight of 1 may come out of a narrow type a little above 1.
    const float slack = sum_tolerance;
    Strongest strongest;
    float worst = 0;
    for (std::int64_t i = 0; i < Tq; ++i) {
        const auto row = weights.subspan(static_cast<std::size_t>(i * Tk), static_cast<std::size_t>(Tk));
        const float largest = inspect_row(facts, row, i, slack);
        facts.largest = std::max(facts.largest, largest);
        const std::int64_t last = i + (Tk - Tq); // as masks count when Tq differs from Tk
        if (facts.causal && last + 1 < Tk)
            facts.causal =
                all_zero(row.subspan(static_cast<std::size_t>(std::max<std::int64_t>(last + 1, 0))));
        if (all_zero(row)) {
            ++facts.empty_rows;
            continue;
        }
        for (std::int64_t j = 1; j < Tk; ++j)
            if (const float value = row[static_cast<std::size_t>(j)]; value > 0 && std::isfinite(value))
                strongest.offer({i, j, value});
        const double sum = sum_of(row);
        const auto deviation = static_cast<float>(sinks ? std::max(sum - 1.0, 0.0) : std::abs(sum - 1.0));
        facts.rows_off += deviation > sum_tolerance ? 1 : 0;
        if (deviation > worst) {
            worst = deviation;
            facts.worst_row = i;
            facts.worst_sum = static_cast<float>(sum);
        }
    }
    facts.strongest = strongest.sorted();
    if (facts.not_finite == 0) {
        facts.metrics = head_metrics(weights, Tq, Tk, tokens);
        return facts;
    }
    std::vector<float> finite(weights.begin(), weights.end());
    std::ranges::replace_if(
        finite, [](float value) { return !std::isfinite(value); }, 0.0F);
    facts.metrics = head_metrics(finite, Tq, Tk, tokens);
    return facts;
}

} // namespace headscope::analysis
