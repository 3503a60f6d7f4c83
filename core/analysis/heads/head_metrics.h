#pragma once

#include "core/trace/trace.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {
struct Problem;
}

namespace headscope::analysis {

/// What is measured of a head: a row of the table each, in its order.
enum class HeadScore : std::uint8_t {
    first,
    previous,
    self,
    next,
    distance,
    entropy,
    confidence,
    largest,
    share
};
inline constexpr std::size_t head_score_count = 9;

/// One query row of one head that may attend to something.
struct WeightRow {
    std::span<const float> weights; ///< Tk
    std::int64_t i = 0;
    std::span<const std::size_t> ends; ///< keys that are end-of-text tokens, ascending
};

/// What one row adds to a score, which is the sum of the values over the sum of the weights.
struct RowPart {
    double value = 0, weight = 0;
};

/// How a score is written, and how large it can be.
struct ScoreUnit {
    double factor;           ///< of the number that is written
    int decimals;            ///< for people
    std::string_view suffix; ///< " nats"; may be empty
    double (*largest)(std::int64_t Tk);
};

/// How a head is called whose score is large.
struct HeadLabel {
    std::string_view text;    ///< empty: the score names no head
    std::string_view between; ///< the same between two sentences, where no token is itself
    std::string_view says;    ///< what it means, in a few words
    char letter;              ///< on the board
    float from;               ///< the smallest score that gives the label
    int rank;                 ///< of two labels with equal scores the lower one counts
};

/// One row of the table: all that any part of the program knows of a score. A new score is an enumerator and
/// a row.
struct HeadScoreInfo {
    HeadScore score;
    std::string_view id;      ///< in `headscope heads`, and as a function in lessons
    std::string_view formula; ///< A is the head's (Tq, Tk) weights
    std::string_view source;  ///< who measured heads so; empty: nobody to name
    ScoreUnit unit;
    bool positions;         ///< means something only where queries and keys are the same tokens, two at least
    std::string_view title; ///< a line of the inspector; empty: not listed there
    std::string_view brief; ///< in a line of several scores; empty: left out
    std::string_view bar;   ///< name of the bar in the panel of heads; empty: no bar
    std::string_view explains; ///< under those bars; "{}" stands for the largest possible value
    HeadLabel label;
    RowPart (*part)(const WeightRow& row); ///< null: not of weights alone
};

const std::array<HeadScoreInfo, head_score_count>& head_scores();
const HeadScoreInfo& info_of(HeadScore score);
/// Null when there is no such id.
const HeadScoreInfo* find_head_score(std::string_view id);
/// Whether the score of (Tq, Tk) weights says something; else it is 0.
bool score_applies(HeadScore score, std::int64_t Tq, std::int64_t Tk);
/// The largest value that a score can have with Tk keys.
double largest_score(HeadScore score, std::int64_t Tk);

/// What one head measurably does, averaged over query rows that may attend to something.
struct HeadMetrics {
    std::array<float, head_score_count> scores{};
    double output_norm = 0;              ///< Frobenius norm of its contribution
    std::optional<HeadScore> labelled{}; ///< the score that names the head, where one is large enough

    float operator[](HeadScore score) const { return scores[static_cast<std::size_t>(score)]; }
    float& operator[](HeadScore score) { return scores[static_cast<std::size_t>(score)]; }
    /// "previous token", "itself", ...; empty for a head without a clear one.
    std::string_view label() const { return labelled ? info_of(*labelled).label.text : std::string_view(); }
};

/// One entry per head of batch entry b. Needs weights; the share needs contributions (else 0). `before`: the
/// metrics of the trace from which an engine computed this one; then only heads that were computed anew
/// (Trace::computed) are measured. `key_tokens`: Tk texts, or none.
std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before = {},
                                      const std::vector<std::string>& key_tokens = {});

/// The same with the tokens of the problem that the trace is of.
std::vector<HeadMetrics> head_metrics(const Problem& problem, const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before = {});

/// The same of one head's weights alone, row-major (Tq, Tk); rows of zeros may attend to nothing.
HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk,
                         const std::vector<std::string>& key_tokens = {});

/// Of one row of weights, in nats. What is no finite number counts as 0.
double entropy_of(std::span<const float> row);

} // namespace headscope::analysis
