#pragma once

#include "core/analysis/effects/head_path.h"
#include "core/lesson/target.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lesson {

/// Values that the learner set on a panel's knobs, by name. A knob without an entry keeps the lesson's value.
using Knobs = std::map<std::string, double>;

/// The cost of one layer for the knobs' sizes.
struct CostPanel {
    std::int64_t D = 512, H = 8, T = 1024;
    std::int64_t Hkv = 0; ///< 0: equal to H
};

/// The sizes of a published model, given in the lesson.
struct ModelSizes {
    std::string name;
    std::int64_t layers = 0, H = 0, Hkv = 0, dk = 0, latent = 0;
};
/// The size of a model's key/value cache for the knobs' sizes, as MHA, GQA and MQA, and as latent vectors if
/// the panel has some.
struct CachePanel {
    std::int64_t layers = 32, H = 32, Hkv = 8, dk = 128, T = 8192, bytes = 2;
    std::int64_t latent = 0;             ///< numbers of a token and layer; 0: none
    std::vector<ModelSizes> models = {}; ///< each sets the knobs with one click
};

/// Merges heads of the current problem into one and shows the result in one query row.
struct MergePanel {
    TargetIndex row;
    std::vector<std::int64_t> heads{0, 1, 2};
    std::int64_t H = 0; ///< the parameters are first divided among H heads; 0: the problem's own heads
};

/// Computes Q, K and V of the current problem, once by a loop over heads and once by one product.
struct LoopPanel {};

/// The most probable next tokens of the current model, for a temperature and two cutoffs.
struct SamplingPanel {
    double temperature = 1, top_p = 1;
    std::int64_t top_k = most_top_k; ///< most_top_k: all
    std::int64_t rows = 8;           ///< tokens listed
    static constexpr std::int64_t most_top_k = 1000;
};

/// Heads of the current model, one per row, with measurements of them in this text.
struct HeadsPanel {
    /// "reads": the largest weight of the last row, and its token; "induction"; "attribution"; "effect": the
    /// change of the logit when the head is ablated; "without": the probability then; or the id of a head
    /// score. Heads are sorted by the absolute value of the first numeric column.
    std::vector<std::string> columns;
    std::string word, against; ///< for attribution and effect: logit of `word` minus that of `against`
    std::int64_t rows = 8;
};

/// Parses "2.7", head 7 of layer 2. Throws Error(input) for other texts.
analysis::HeadPlace head_place(const std::string& text);

/// The attention weights of a head in one row when the output of an earlier head is removed from its queries
/// or its keys.
struct PathPanel {
    analysis::HeadPlace from;
    std::vector<analysis::HeadPlace> to;
    TargetIndex row, key; ///< the displayed weight
};

/// Scores by the distance of two tokens, determined only by positions: rotation, sines and an additive bias.
struct PositionsPanel {
    std::int64_t dk = 24; ///< even
    double base = 10000;  ///< of the angles
    std::int64_t H = 8;   ///< heads among which the slopes of the bias are distributed
    std::int64_t query = 20, key = 12, pair = 0;
};

/// An interactive panel in a step: knobs, and the numbers that the engine or the formulas compute from them.
struct LessonPanel {
    std::variant<CostPanel, CachePanel, MergePanel, LoopPanel, SamplingPanel, HeadsPanel, PathPanel,
                 PositionsPanel>
        kind;
    std::vector<std::string> knobs = {}; ///< names of the displayed knobs; empty: all
    int line = 0;                        ///< line in the file; also the panel's id
};

/// One knob and its current value.
struct Knob {
    std::string name;        ///< "T"
    std::string description; ///< the meaning of the number
    std::vector<double> slider_values =
        {};                   ///< slider values, ascending; empty: any value between low and high
    double low = 0, high = 1; ///< range of typed values
    double lesson_value = 0;  ///< the lesson's own value
    double value = 0;
    int decimals = 0;
};

/// The knobs of a panel with consistent values: H divides D, and Hkv divides H.
std::vector<Knob> knobs_of(const LessonPanel& panel, const Knobs& set);

/// Throws Error(input) if a knob does not accept `value`; the message lists the accepted values.
void check_knob(const LessonPanel& panel, const Knobs& set, const std::string& name, double value);

} // namespace headscope::lesson
