#pragma once

#include "core/analysis/attention_set.h"
#include "core/analysis/passed_on.h"
#include "core/analysis/reading_options.h"
#include "core/base/progress.h"
#include "core/text/word_pieces.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// A set of attention weights read otherwise than it is held. Of the weights nothing is kept but what
/// PassedOn keeps: every layer and head is worked out from the set below when it is asked for, in double
/// precision.
///
/// In this order, for one head w (Tq, Tk):
/// 1. norm_weighted: each weight is multiplied by the length of what its key brings, AttentionSet::brought
///    (Kobayashi et al. 2020).
/// 2. hide_first_token: the weights to key 0 become 0. hide_special_tokens: the rows and columns of special
///    tokens (is_special_token) go.
/// 3. merge_words (Clark et al. 2019, section 4): the columns of a word's pieces are summed, its rows
///    averaged over those that read anything. Pieces of a word: group_pieces_into_words.
/// 4. If anything was hidden, every row is divided by what is left of its sum; if weights were multiplied, by
///    its sum. A row with nothing left is a row of zeros. A row that softmax could not have given - its sum,
///    all keys counted, misses 1 by more than info().sum_tolerance, or a weight is not finite - is left as
///    steps 2 and 3 make it, so that it stays noticed.
/// 5. means: the mean over the heads of a layer is one more head, the last; where the set holds layers, the
///    mean over the layers of a head is one more layer, the last, whose last head is the mean of all. Each is
///    the mean of what steps 1 to 4 gave, as MeanWeights has it. rollout or flow: what the layers so far pass
///    on together is one more head of each layer, the last: PassedOn of that mean over heads.
///
/// Sequences of different tokens may keep different numbers of them: the largest counts, and the others end
/// in rows and columns of zeros that are called "—".
class ReadSet final : public AttentionSet {
public:
    /// `stop`, where given, ends a mean that is being worked out with Error(cancelled). Throws Error(input)
    /// when hiding special tokens would leave no query or no key.
    ReadSet(AttentionSetPtr held, const ReadingOptions& options, std::shared_ptr<const Progress> stop = {});

    const AttentionInfo& info() const override { return info_; }
    const std::vector<std::string>& query_tokens(std::int64_t l) const override;
    const std::vector<std::string>& key_tokens(std::int64_t l) const override;
    TensorPtr layer(std::int64_t l) const override;
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override;
    std::vector<bool> padding(std::int64_t l) const override;

    /// Which of the held queries, or keys, stand at each place; shorter than Tq or Tk where a sequence ends.
    const std::vector<text::TokenRun>& queries(std::int64_t l) const { return places(l).queries; }
    const std::vector<text::TokenRun>& keys(std::int64_t l) const { return places(l).keys; }

private:
    /// Of one sequence, or of all layers.
    struct Places {
        std::vector<text::TokenRun> queries, keys;
        std::vector<std::string> query_tokens,
            key_tokens; ///< key_tokens is empty where they are the queries'
        bool own_keys = false;
    };
    Places places_of(std::int64_t l) const;
    const Places& places(std::int64_t l) const;
    /// Steps 1 to 4 on rows of one held head, of which `held` has row `held_from` and those after it. Fills
    /// whole rows from row `first` on. lengths: Tk, or none where weights are not multiplied.
    void read_into(std::int64_t l, std::span<const float> held, std::int64_t held_from,
                   std::span<const float> lengths, std::int64_t first, std::span<float> to) const;
    /// (1, H, Tk), or null where weights are not multiplied.
    TensorPtr lengths_of(std::int64_t l) const;
    std::span<const float> lengths_of_head(const TensorPtr& lengths, std::int64_t h) const;
    bool passes_on() const { return options_.rollout || options_.flow; }
    /// The mean over the heads of layer l, as they are read.
    void read_mean(std::int64_t l, std::span<float> to) const;
    void read_made(std::int64_t l, std::span<float> to) const;
    /// Rows of a held head, read: whole ones from row `first` on.
    void read_held(std::int64_t l, std::int64_t h, std::int64_t first, std::span<float> to) const;
    /// The same of any head but a rollout and a flow.
    void read_rows(std::int64_t l, std::int64_t h, std::int64_t first, std::span<float> to) const;
    void check_stop() const;
    std::size_t held_cells() const;
    std::size_t cells() const { return static_cast<std::size_t>(info_.Tq * info_.Tk); }

    AttentionSetPtr held_;
    ReadingOptions options_;
    std::shared_ptr<const Progress> stop_;
    AttentionInfo info_;
    std::vector<Places> places_; ///< one, or one per sequence
    mutable std::mutex mutex_;
    mutable std::vector<TensorPtr> lengths_; ///< by layer, once they were asked for; guarded by mutex_
    std::unique_ptr<PassedOn> passed_on_;    ///< null: no rollout or flow is asked for
};

/// The set itself where no option is on that does anything to it, else a ReadSet of it. Throws as that does.
AttentionSetPtr with_reading(const AttentionSetPtr& set, const ReadingOptions& options,
                             std::shared_ptr<const Progress> stop = {});

/// Where a query, or key, of one reading of a set stands in another reading of the same set; `from` and `to`
/// may be the set itself. Nothing where it is hidden there. A word is found by its first piece.
std::optional<std::int64_t> same_query(const AttentionSet& from, const AttentionSet& to, std::int64_t l,
                                       std::int64_t query);
std::optional<std::int64_t> same_key(const AttentionSet& from, const AttentionSet& to, std::int64_t l,
                                     std::int64_t key);

/// Which options do something to a set: it has special tokens, words in several pieces, more than one head or
/// layer. Looks at the tokens alone.
ReadingOptions readings_that_act(const AttentionSet& set);

} // namespace headscope::analysis
