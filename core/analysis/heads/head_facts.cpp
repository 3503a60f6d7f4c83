#include "core/analysis/heads/head_facts.h"

#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

namespace headscope::analysis {

namespace {

constexpr std::ptrdiff_t most_strongest = 24;

bool larger(const PlacedWeight& a, const PlacedWeight& b) {
    return a.value > b.value;
}

/// Keeps the largest weights that it is shown, as a heap with the smallest in front.
void offer(std::vector<PlacedWeight>& heap, const PlacedWeight& weight) {
    if (std::ssize(heap) == most_strongest) {
        if (weight.value <= heap.front().value)
            return;
        std::ranges::pop_heap(heap, larger);
        heap.pop_back();
    }
    heap.push_back(weight);
    std::ranges::push_heap(heap, larger);
}

/// Notes what is wrong with single weights and returns the largest of the row, at least 0.
float inspect_row(HeadFacts& facts, std::span<const float> row, std::int64_t i, float slack) {
    const float highest = view_of(row).maxCoeff<Eigen::PropagateNaN>();
    if (view_of(row).minCoeff<Eigen::PropagateNaN>() >= -slack && highest <= 1 + slack)
        return std::max(highest, 0.0F);
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
    return std::transform_reduce(row.begin(), row.end(), 0.0, std::plus(), [](float value) {
        return std::isfinite(value) ? static_cast<double>(value) : 0.0;
    });
}

bool all_zero(std::span<const float> row) {
    return view_of(row).abs().maxCoeff<Eigen::PropagateNaN>() == 0.0F;
}

} // namespace

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
            if (const auto at = static_cast<std::size_t>(i); at < keys.padding.size() && keys.padding[at])
                continue;
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
    return {.keys = pieces.empty() ? set.key_tokens(l) : pieces,
            .same = !set.info().cross,
            .padding = set.padding(l)};
}

RowFacts::RowFacts(std::int64_t Tq, std::int64_t Tk, float sum_tolerance, const HeadTokens& tokens,
                   bool sinks, std::vector<float> shares)
    : Tq_(Tq), Tk_(Tk), tolerance_(sum_tolerance), sinks_(sinks), shares_(std::move(shares)),
      padding_(tokens.padding), metrics_(Tq, Tk, tokens, key_facts(tokens)) {
    facts_.causal = Tk > 1;
}

void RowFacts::add(std::int64_t first, std::span<const float> rows) {
    const auto width = static_cast<std::size_t>(Tk_);
    for (std::size_t at = 0; at < rows.size(); at += width, ++first)
        add_row(first, rows.subspan(at, width));
}

void RowFacts::add_row(std::int64_t i, std::span<const float> row) {
    const auto at = static_cast<std::size_t>(i);
    if (at < padding_.size() && padding_[at])
        return;
    const std::int64_t not_finite = facts_.not_finite;
    // A weight of 1 may come out of a narrow type a little above 1.
    const float largest = inspect_row(facts_, row, i, tolerance_);
    facts_.largest = std::max(facts_.largest, largest);
    const std::int64_t last = i + (Tk_ - Tq_); // as masks count when Tq differs from Tk
    if (facts_.causal && last + 1 < Tk_)
        facts_.causal = all_zero(row.subspan(static_cast<std::size_t>(std::max<std::int64_t>(last + 1, 0))));
    if (all_zero(row)) {
        ++facts_.empty_rows;
        return;
    }
    if (std::ssize(facts_.strongest) < most_strongest || largest > facts_.strongest.front().value)
        for (std::size_t j = 1; j < row.size(); ++j)
            if (const float value = row[j]; value > 0 && std::isfinite(value))
                offer(facts_.strongest, {i, static_cast<std::int64_t>(j), value});
    const double sum = sum_of(row);
    const double share = shares_.empty() ? 0.0 : static_cast<double>(shares_[at]);
    const auto deviation = static_cast<float>(sinks_ && shares_.empty() ? std::max(sum - 1.0, 0.0)
                                                                        : std::abs(sum + share - 1.0));
    facts_.rows_off += deviation > tolerance_ ? 1 : 0;
    if (deviation > worst_) {
        worst_ = deviation;
        facts_.worst_row = i;
        facts_.worst_sum = static_cast<float>(sum);
    }
    if (facts_.not_finite == not_finite)
        return metrics_.add(i, row);
    finite_.assign(row.begin(), row.end());
    std::ranges::replace_if(
        finite_, [](float value) { return !std::isfinite(value); }, 0.0F);
    if (!all_zero(finite_))
        metrics_.add(i, finite_);
}

HeadFacts RowFacts::result() const {
    HeadFacts facts = facts_;
    std::ranges::sort(facts.strongest, larger);
    facts.metrics = metrics_.result();
    return facts;
}

HeadFacts head_facts(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk, float sum_tolerance,
                     const HeadTokens& tokens, bool sinks) {
    RowFacts facts(Tq, Tk, sum_tolerance, tokens, sinks);
    facts.add(0, weights);
    return facts.result();
}

} // namespace headscope::analysis
