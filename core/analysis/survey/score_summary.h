#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headscope::analysis {

/// A piece of a text of a corpus: as many tokens as a model reads at once.
struct PieceName {
    std::int64_t line = 0;  ///< of the file, from 1
    std::int64_t piece = 0; ///< of that line's text, from 0
    auto operator<=>(const PieceName&) const = default;
};

/// A head's score on one piece, and where the head acts most by the meaning of that score.
struct ScoredPiece {
    PieceName name;
    std::int32_t query = 0, key = 0; ///< the cell of the (T, T) weights
    float score = 0, weight = 0;     ///< weight: of that cell
};

/// What is kept of one score of one head over any number of pieces. Every member is a count, a sum of whole
/// numbers, or a choice by a fixed order of the pieces: neither their order nor how they were divided among
/// several summaries that are merged changes a bit. Nothing grows with the number of pieces.
class ScoreSummary {
public:
    static constexpr std::size_t most_largest = 10;

    /// Pieces whose scores lie close together: one of 64 intervals of equal width of an octave, from 2^-20
    /// on.
    struct Bucket {
        std::int64_t number = 0; ///< 0: below 2^-20
        std::int64_t count = 0;
        ScoredPiece typical; ///< the piece whose name has the smallest hash
    };

    /// score: not negative, finite, below 2^22. cell: fills query, key and weight; called only when the piece
    /// is kept.
    void add(PieceName name, float score, const std::function<void(ScoredPiece&)>& cell);
    /// The same score of a piece that was added, in what remains beside its first token: HeadMetrics::beside.
    void add_beside(float score);
    void merge(const ScoreSummary& other);

    std::int64_t count() const { return count_; }
    // Of at least one piece.
    double mean() const;
    double mean_beside() const;
    /// The standard deviation over all pieces.
    double spread() const;
    float smallest() const { return smallest_; }
    /// The score below which a share p of the pieces lies, in [0, 1]: that of the piece at place p (count -
    /// 1) from below, rounded down, to within the width of its bucket, which is 1/64 of the score at most.
    double quantile(double p) const;
    /// A piece of the bucket that holds the quantile.
    const ScoredPiece& typical(double p) const;
    /// The largest scores, largest first; of equals the earlier piece.
    const std::vector<ScoredPiece>& largest() const { return largest_; }

    /// All that a summary is, for a file.
    struct Parts {
        std::int64_t count = 0;
        std::int64_t sum[2]{}, squares[2]{}, beside[2]{}; ///< high and low half of 128 bits
        float smallest = 0;
        std::span<const Bucket> buckets;
        std::span<const ScoredPiece> largest;
    };
    Parts parts() const;
    static ScoreSummary from(const Parts& parts);

private:
    __extension__ using Wide = __int128;
    Bucket& bucket(std::int64_t number);
    void offer(const ScoredPiece& piece);
    const Bucket& bucket_at(double p) const;

    std::int64_t count_ = 0;
    Wide sum_ = 0, squares_ = 0, beside_ = 0; ///< of scores times 2^32, rounded
    float smallest_ = 0;
    std::vector<Bucket> buckets_; ///< by number
    std::vector<ScoredPiece> largest_;
};

} // namespace headscope::analysis
