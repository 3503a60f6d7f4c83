#include "core/analysis/survey/score_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::analysis {

namespace {

constexpr double fixed_point = 4294967296.0;                ///< 2^32
constexpr auto first_bits = std::uint32_t{127 - 20} << 23U; ///< of 2^-20 as float32
constexpr unsigned bits_left_out = 23 - 6;                  ///< 2^6 buckets to the octave

template<class Wide>
double mean_of_sum(Wide sum, std::int64_t count) {
    return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(count) /
                               static_cast<long double>(fixed_point));
}

std::int64_t bucket_of(float score) {
    const auto bits = std::bit_cast<std::uint32_t>(std::max(score, 0.0F));
    return bits < first_bits ? 0 : 1 + ((bits - first_bits) >> bits_left_out);
}

double begin_of(std::int64_t bucket) {
    if (bucket == 0)
        return 0;
    return static_cast<double>(
        std::bit_cast<float>(first_bits + (static_cast<std::uint32_t>(bucket - 1) << bits_left_out)));
}

/// Scatters the pieces, so that typical ones come from the whole corpus: splitmix64 (Steele, Lea and Flood
/// 2014). Lines with fewer than 2^20 pieces never collide.
std::uint64_t hash_of(PieceName name) {
    auto z = (static_cast<std::uint64_t>(name.line) << 20U) + static_cast<std::uint64_t>(name.piece);
    z += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

bool more_typical(PieceName a, PieceName b) {
    const std::uint64_t of_a = hash_of(a), of_b = hash_of(b);
    return of_a != of_b ? of_a < of_b : a < b;
}

bool before(const ScoredPiece& a, const ScoredPiece& b) {
    return a.score != b.score ? a.score > b.score : a.name < b.name;
}

} // namespace

void ScoreSummary::add(PieceName name, float score, const std::function<void(ScoredPiece&)>& cell) {
    const Wide fixed = std::llround(static_cast<double>(score) * fixed_point);
    sum_ += fixed;
    squares_ += fixed * fixed;
    smallest_ = count_ == 0 ? score : std::min(smallest_, score);
    ++count_;
    ScoredPiece piece{.name = name, .query = 0, .key = 0, .score = score, .weight = 0};
    Bucket& of = bucket(bucket_of(score));
    const bool typical = of.count++ == 0 || more_typical(name, of.typical.name);
    const bool among_largest = largest_.size() < most_largest || before(piece, largest_.back());
    if (!typical && !among_largest)
        return;
    cell(piece);
    if (typical)
        of.typical = piece;
    if (among_largest)
        offer(piece);
}

void ScoreSummary::add_beside(float score) {
    beside_ += std::llround(static_cast<double>(score) * fixed_point);
}

void ScoreSummary::merge(const ScoreSummary& other) {
    if (other.count_ == 0)
        return;
    smallest_ = count_ == 0 ? other.smallest_ : std::min(smallest_, other.smallest_);
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    beside_ += other.beside_;
    for (const Bucket& from : other.buckets_) {
        Bucket& to = bucket(from.number);
        if (to.count == 0 || more_typical(from.typical.name, to.typical.name))
            to.typical = from.typical;
        to.count += from.count;
    }
    for (const ScoredPiece& piece : other.largest_)
        offer(piece);
}

ScoreSummary::Bucket& ScoreSummary::bucket(std::int64_t number) {
    const auto at = std::ranges::lower_bound(buckets_, number, {}, &Bucket::number);
    if (at != buckets_.end() && at->number == number)
        return *at;
    return *buckets_.insert(at, Bucket{.number = number, .count = 0, .typical = {}});
}

void ScoreSummary::offer(const ScoredPiece& piece) {
    largest_.insert(std::ranges::lower_bound(largest_, piece, before), piece);
    if (largest_.size() > most_largest)
        largest_.pop_back();
}

double ScoreSummary::mean() const {
    return mean_of_sum(sum_, count_);
}

double ScoreSummary::mean_beside() const {
    return mean_of_sum(beside_, count_);
}

double ScoreSummary::spread() const {
    // Taken against a whole number near the mean, so that nothing is rounded before the last step.
    const Wide about = sum_ / count_, left = sum_ - about * count_;
    const Wide squares = squares_ - 2 * about * sum_ + about * about * count_;
    const auto n = static_cast<long double>(count_);
    const long double shift = static_cast<long double>(left) / n;
    const long double variance = static_cast<long double>(squares) / n - shift * shift;
    return static_cast<double>(std::sqrt(std::max(variance, 0.0L)) / static_cast<long double>(fixed_point));
}

const ScoreSummary::Bucket& ScoreSummary::bucket_at(double p) const {
    const double place = p * static_cast<double>(count_ - 1);
    std::int64_t below = 0;
    for (const Bucket& bucket : buckets_) {
        below += bucket.count;
        if (static_cast<double>(below) > place)
            return bucket;
    }
    return buckets_.back();
}

double ScoreSummary::quantile(double p) const {
    const double place = p * static_cast<double>(count_ - 1);
    const Bucket& bucket = bucket_at(p);
    std::int64_t below = 0;
    for (const Bucket& earlier : buckets_)
        if (earlier.number < bucket.number)
            below += earlier.count;
    const double begin = begin_of(bucket.number), end = begin_of(bucket.number + 1);
    const double within = (place - static_cast<double>(below) + 0.5) / static_cast<double>(bucket.count);
    return std::clamp(begin + (end - begin) * std::min(within, 1.0), static_cast<double>(smallest_),
                      static_cast<double>(largest_.front().score));
}

const ScoredPiece& ScoreSummary::typical(double p) const {
    return bucket_at(p).typical;
}

ScoreSummary::Parts ScoreSummary::parts() const {
    Parts parts;
    parts.count = count_;
    const auto halves = [](Wide number, std::int64_t* out) {
        out[0] = static_cast<std::int64_t>(number >> 64U);
        out[1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(number));
    };
    halves(sum_, parts.sum);
    halves(squares_, parts.squares);
    halves(beside_, parts.beside);
    parts.smallest = smallest_;
    parts.buckets = buckets_;
    parts.largest = largest_;
    return parts;
}

ScoreSummary ScoreSummary::from(const Parts& parts) {
    const auto whole = [](const std::int64_t* halves) {
        return static_cast<Wide>(halves[0]) * (static_cast<Wide>(1) << 64U) +
               static_cast<Wide>(static_cast<std::uint64_t>(halves[1]));
    };
    ScoreSummary summary;
    summary.count_ = parts.count;
    summary.sum_ = whole(parts.sum);
    summary.squares_ = whole(parts.squares);
    summary.beside_ = whole(parts.beside);
    summary.smallest_ = parts.smallest;
    summary.buckets_.assign(parts.buckets.begin(), parts.buckets.end());
    summary.largest_.assign(parts.largest.begin(), parts.largest.end());
    return summary;
}

} // namespace headscope::analysis
