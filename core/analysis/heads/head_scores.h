#pragma once

#include "core/base/message.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
    share,
    duplicate_text,
    induction_text,
    special,
    punctuation,
    sink,
    probe_previous,
    probe_duplicate,
    probe_induction,
    copying,
    effect,
    retrieval,
    parameter_change,
    attention_change
};
inline constexpr std::size_t head_score_count = 22;

/// What a score is measured of.
enum class ScoreSource : std::uint8_t {
    weights,       ///< of the head's weights alone
    tokens,        ///< and which tokens are the same
    texts,         ///< and what the key tokens say
    contributions, ///< of what all heads of the layer add to its output
    probe,         ///< of the weights on a text of random tokens, see probe.h
    model,         ///< of the model's weights: see copying.h
    further_runs,  ///< of runs without the head: see ablation_sweep.h
    needles,       ///< of what the model writes in answer to a needle in a haystack: see retrieval.h
    comparison     ///< of a checkpoint and its changed version: see head_change.h
};

/// What scores ask of the keys, made once for each map. Keys are listed in ascending order.
struct KeyFacts {
    std::vector<std::size_t> ends, special, punctuation; ///< keys that are tokens of that class
    std::vector<std::int64_t> before; ///< Tk: the last earlier key with the same token, or -1
    std::int64_t repeated = 0;        ///< S: the last 2 S tokens are S tokens said twice; 0: no probe
    std::vector<bool> padding{};      ///< Tq, or none: queries whose rows say nothing
};

/// One query row of one head that may attend to something.
struct WeightRow {
    std::span<const float> weights; ///< Tk
    std::int64_t i = 0;
    const KeyFacts& keys;
};

/// What one row adds to a score, which is the sum of the values over the sum of the weights.
struct RowPart {
    double value = 0, weight = 0;
};

/// How a score is written, and how large it can be.
struct ScoreUnit {
    double factor;  ///< of the number that is written
    int decimals;   ///< for people
    Message suffix; ///< " nats"; may be empty
    double (*largest)(std::int64_t Tk);
};

/// How a head is called whose score is large.
struct HeadLabel {
    Message text{};     ///< empty: the score names no head
    Message says{};     ///< what it means, in a few words
    char letter = '\0'; ///< on the board
    float from = 0;     ///< the smallest score that gives the label
    int rank = 0;       ///< of two labels with equal claims the lower one counts
};

/// One row of the table: all that any part of the program knows of a score. A new score is an enumerator and
/// a row.
struct HeadScoreInfo {
    HeadScore score;
    std::string_view id; ///< in `headscope heads`, and as a function in lessons
    Message name;        ///< in lists and at axes, for people
    Message formula;     ///< A is the head's (Tq, Tk) weights
    Message source;      ///< who measured heads so; empty: nobody to name
    ScoreUnit unit;
    bool positions; ///< means something only where queries and keys are the same tokens, two at least
    ScoreSource of;
    Message title{};    ///< a line of the inspector; empty: not listed there
    Message brief{};    ///< in a line of several scores; empty: left out
    Message bar{};      ///< name of the bar in the panel of heads; empty: no bar
    Message explains{}; ///< under those bars; "{}" stands for the largest possible value
    HeadLabel label{};
    RowPart (*part)(const WeightRow& row) = nullptr; ///< null: no mean over rows
    double (*of_mean)(double mean) = nullptr;        ///< what is made of that mean; null: nothing
    /// How much key j of the row counts for the score, at most its weight times unit.largest; null: its
    /// weight, unless it is the first key.
    double (*acts)(const WeightRow& row, std::size_t j) = nullptr;
};

const std::array<HeadScoreInfo, head_score_count>& head_scores();
const HeadScoreInfo& info_of(HeadScore score);
/// Null when there is no such id.
const HeadScoreInfo* find_head_score(std::string_view id);
/// Whether the score says something of (Tq, Tk) weights. same_tokens: queries and keys are the same tokens,
/// as nowhere in a cross-attention.
bool score_applies(HeadScore score, std::int64_t Tq, std::int64_t Tk, bool same_tokens);
/// Returns true if one run over the text is enough to measure the score. The others need a probe, the
/// model's weights, further runs or a second checkpoint.
bool is_of_one_run(const HeadScoreInfo& info);
/// Whether the score takes so many runs that it is measured only where somebody asks for it.
bool is_asked_for(const HeadScoreInfo& info);
/// The largest value that a score can have with Tk keys.
double largest_score(HeadScore score, std::int64_t Tk);

} // namespace headscope::analysis
