#pragma once

#include "core/analysis/heads/head_scores.h"
#include "core/trace/trace.h"

#include <array>
#include <bitset>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {
struct Problem;
}

namespace headscope::analysis {

/// From which score on a head is called by it, for each score; see HeadLabel::from.
using LabelThresholds = std::array<float, head_score_count>;
const LabelThresholds& usual_thresholds();

/// What is known of the tokens that a head reads; by default nothing.
struct HeadTokens {
    std::vector<std::string> keys{}; ///< Tk texts, or none
    std::vector<std::int64_t> ids{}; ///< Tk: equal numbers are the same token; none: equal texts are
    bool same = true;            ///< queries and keys are the same tokens, as nowhere in a cross-attention
    std::int64_t repeated = 0;   ///< S: the last 2 S tokens are S random ones said twice; 0: no probe
    std::vector<bool> padding{}; ///< Tq, or none: queries that pad the text, whose rows are left out
    bool hide_first = false; ///< measure without the first key's column, each row made to add up to 1 again
};

/// What one head measurably does, averaged over query rows that may attend to something. A score that was not
/// measured is 0.
struct HeadMetrics {
    std::array<float, head_score_count> scores{};
    std::bitset<head_score_count> measured{};
    /// Scores that name heads, measured in what remains beside the first key; 0 where too little remains.
    std::array<float, head_score_count> beside{};
    double output_norm = 0;              ///< Frobenius norm of its contribution
    std::optional<HeadScore> labelled{}; ///< the score that names the head, where one is large enough
    bool beside_first = false;           ///< the label is that of `beside`: the first token takes most

    /// Whether the score applies and was measured.
    bool has(HeadScore score) const { return measured[static_cast<std::size_t>(score)]; }
    float operator[](HeadScore score) const { return scores[static_cast<std::size_t>(score)]; }
    void set(HeadScore score, float value) {
        scores[static_cast<std::size_t>(score)] = value;
        measured.set(static_cast<std::size_t>(score));
    }
    /// How large the score is by which the head is labelled; it has a label.
    float label_score() const {
        const auto score = static_cast<std::size_t>(labelled.value());
        return beside_first ? beside[score] : scores[score];
    }
    /// In English: "previous token", "itself", ...; empty for a head without a clear one.
    std::string_view label() const {
        return labelled ? info_of(*labelled).label.text.english : std::string_view();
    }
};

/// One entry per head of batch entry b. Needs weights; the share needs contributions. `before`: the metrics
/// of the trace from which an engine computed this one; then only heads that were computed anew
/// (Trace::computed) are measured. `tokens`: of this entry, or of all, one after the other; those of a
/// cross-attention are never the same.
std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before = {}, const HeadTokens& tokens = {});

/// The same with the tokens of the problem that the trace is of.
std::vector<HeadMetrics> head_metrics(const Problem& problem, const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before = {});

/// The same of one head's weights alone, row-major (Tq, Tk); rows of zeros may attend to nothing.
HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk,
                         const HeadTokens& tokens = {});

/// The same row by row, of a head that is not held as a whole.
class RowMetrics {
public:
    RowMetrics(std::int64_t Tq, std::int64_t Tk, const HeadTokens& tokens, KeyFacts keys);
    /// Row i of the head's weights, which may attend to something: Tk numbers.
    void add(std::int64_t i, std::span<const float> weights);
    /// Of the rows that were added.
    HeadMetrics result() const;

private:
    struct Sum {
        const HeadScoreInfo* info;
        RowPart sum;
        RowPart beside{};       ///< of the rows in which enough remains beside the first key
        double rows_beside = 0; ///< those rows and the ones in which too little remains
    };
    KeyFacts keys_;
    bool hide_first_, looks_beside_;
    std::vector<float> row_; ///< without the first key
    std::vector<Sum> sums_;
};

// The same by steps, for callers that measure heads of many texts on several threads.
/// What scores ask of these tokens.
KeyFacts key_facts(const HeadTokens& tokens);
/// Head h of batch entry b, with the tokens of that entry and key_facts of them; all scores but the share.
HeadMetrics head_metrics(const Trace& trace, std::int64_t b, std::int64_t h, const HeadTokens& tokens,
                         const KeyFacts& keys);
/// What head h of batch entry b adds to the stream, as one number: its Frobenius norm. Needs contributions.
double norm_of_contribution(const Trace& trace, std::int64_t b, std::int64_t h);
/// Sets the share of each head of a layer from its output_norm.
void set_shares(std::span<HeadMetrics> heads);

/// The score that names a head: of those that reach their threshold the one that exceeds it by the largest
/// factor, of two alike the one of lower rank. None where no score reaches its threshold. A head that would
/// be called "first token" gets the label of what remains beside that token, where there is one.
std::optional<HeadScore> label_of(const HeadMetrics& metrics,
                                  const LabelThresholds& from = usual_thresholds());

/// Whether that label is the one of what remains beside the first token.
bool is_beside_first(const HeadMetrics& metrics, const LabelThresholds& from = usual_thresholds());

/// The mean of each score over several texts, at least one, that had the same scores measured; the label is
/// that of the means.
HeadMetrics mean_of(std::span<const HeadMetrics> texts);

/// Of one row of weights, in nats. What is no finite number counts as 0.
double entropy_of(std::span<const float> row);

} // namespace headscope::analysis
