#pragma once

#include "core/analysis/heads/head_metrics.h"
#include "core/trace/attention_set.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope::analysis {

/// One weight and where it stands.
struct PlacedWeight {
    std::int64_t i = 0, j = 0;
    float value = 0;
};

/// What one head of unknown origin measurably is: how it reads, and what a softmax would not have given.
struct HeadFacts {
    HeadMetrics metrics; ///< over rows that have weights; the share is not known and 0
    bool causal = false; ///< no query reads a later key, and there are later keys
    float largest = 0;   ///< of all weights

    std::int64_t rows_off = 0;  ///< rows whose sum misses 1 by more than the tolerance; with sinks, passes it
    std::int64_t worst_row = 0; ///< the one that misses it most
    float worst_sum = 1;        ///< its sum
    std::int64_t empty_rows = 0; ///< rows of zeros: fully masked, nothing wrong with them
    std::int64_t outside = 0;    ///< weights below 0 or above 1
    PlacedWeight first_outside;
    std::int64_t not_finite = 0; ///< NaN or infinite; counted as 0 in everything else
    PlacedWeight first_not_finite;

    std::vector<PlacedWeight> strongest; ///< up to 24, largest first, the first key's left out

    bool flagged() const { return rows_off > 0 || outside > 0 || not_finite > 0; }
};

/// Measures a head row by row, so that it need not be held as a whole.
class RowFacts {
public:
    /// `sinks`: what a row misses of 1 went to a learned sink; shares: how much of each row did, or none.
    RowFacts(std::int64_t Tq, std::int64_t Tk, float sum_tolerance, const HeadTokens& tokens = {},
             bool sinks = false, std::vector<float> shares = {});
    /// Whole rows, from row `first` on. Rows come in their order; those of padding are left out.
    void add(std::int64_t first, std::span<const float> rows);
    /// Of the rows that were added.
    HeadFacts result() const;

private:
    void add_row(std::int64_t i, std::span<const float> row);

    std::int64_t Tq_, Tk_;
    float tolerance_;
    bool sinks_;
    std::vector<float> shares_; ///< Tq: of each row what went to the sink; none: not known
    std::vector<bool> padding_; ///< Tq, or none
    HeadFacts facts_;           ///< without metrics; `strongest` is a heap
    RowMetrics metrics_;
    float worst_ = 0;           ///< of the sums' deviations
    std::vector<float> finite_; ///< a row whose numbers that are not finite count as 0
};

/// Of one head's weights, row-major (Tq, Tk). `sinks`: what a row misses of 1 went to a learned sink.
HeadFacts head_facts(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk, float sum_tolerance,
                     const HeadTokens& tokens = {}, bool sinks = false);

/// The cells in which a head acts most by the meaning of a score, of up to `most` different rows, the largest
/// first: those that count most for the score, or where none counts the largest weights off the first key.
/// Of equals the first, row by row. A first row that reads its own token alone, as in every causal map, says
/// nothing and is left out. weights: (Tq, Tk), row by row. Fewer, or none, where no weight is above 0.
std::vector<PlacedWeight> acting_cells(HeadScore score, std::span<const float> weights, std::int64_t Tk,
                                       const KeyFacts& keys, std::size_t most);

/// The first of those; the first weight where there is none. weights: at least one.
PlacedWeight acting_cell(HeadScore score, std::span<const float> weights, std::int64_t Tk,
                         const KeyFacts& keys);

/// Returns the tokens of layer l, as far as the set knows them.
HeadTokens key_tokens_of(const AttentionSet& set, std::int64_t l);

} // namespace headscope::analysis
