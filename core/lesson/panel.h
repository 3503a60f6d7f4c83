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

/// The cost of one layer for the sizes on the knobs.
struct CostPanel {
    std::int64_t D = 512, H = 8, T = 1024;
    std::int64_t Hkv = 0; ///< 0: equal to H
};

/// The sizes of a published model, given in the lesson.
struct ModelSizes {
    std::string name;
    std::int64_t layers = 0, H = 0, Hkv = 0, dk = 0;
};
/// The size of a model's key/value cache for the sizes on the knobs, as MHA, GQA and MQA.
struct CachePanel {
    std::int64_t layers = 32, H = 32, Hkv = 8, dk = 128, T = 8192, bytes = 2;
    std::vector<ModelSizes> models = {}; ///< each sets the knobs with one click
};

/// Merges heads of the problem on screen into one and shows the result in one query row.
struct BlurPanel {
    TargetIndex row;
    std::vector<std::int64_t> heads{0, 1, 2};
    std::int64_t H = 0; ///< the weights are first divided among H heads; 0: the problem's own heads
};

/// Computes Q, K and V of the problem on screen, once by a loop over heads and once by one product.
struct LoopPanel {};

/// The likeliest next tokens of the model on screen, as a temperature and two cut-offs change them.
struct SamplingPanel {
    double temperature = 1, top_p = 1;
    std::int64_t top_k = most_top_k; ///< most_top_k: all
    std::int64_t rows = 8;           ///< tokens listed
    static constexpr std::int64_t most_top_k = 1000;
};

/// Heads of the model on screen, one in a row, by what is measured of them in this text.
struct HeadsPanel {
    /// "reads": the largest weight of the last row, and its token; "induction"; "attribution"; "effect": the
    /// change of the logit where the head is switched off; "without": the probability then; or the id of a
    /// head score. Heads are ordered by the size of the first that is a number.
    std::vector<std::string> columns;
    std::string word, against; ///< of attribution and effect: logits of word less those of against
    std::int64_t rows = 8;
};

/// "2.7" is head 7 of layer 2. Throws Error(input) for other texts.
analysis::HeadPlace head_place(const std::string& text);

/// What a head reads in one row when what an earlier head wrote is taken out of its queries, or its keys.
struct PathPanel {
    analysis::HeadPlace from;
    std::vector<analysis::HeadPlace> to;
    TargetIndex row, key; ///< the weight that is watched
};

/// Scores by the distance of two tokens, as positions alone make them: rotation, sines and an additive bias.
struct PositionsPanel {
    std::int64_t dk = 24; ///< even
    double base = 10000;  ///< of the angles
    std::int64_t H = 8;   ///< heads that share the slopes of the bias
    std::int64_t query = 20, key = 12, pair = 0;
};

/// Something to try out in a step: knobs, and the numbers that the engine or the formulas compute from them.
struct LessonPanel {
    std::variant<CostPanel, CachePanel, BlurPanel, LoopPanel, SamplingPanel, HeadsPanel, PathPanel,
                 PositionsPanel>
        kind;
    std::vector<std::string> knobs = {}; ///< names of the knobs shown; empty: all
    int line = 0;                        ///< line in the file; also the panel's id
};

/// One knob and its present value.
struct Knob {
    std::string name; ///< "T"
    std::string says; ///< what the number counts
    std::vector<double> stops =
        {};                   ///< values a slider stops at, ascending; empty: any value between low and high
    double low = 0, high = 1; ///< range of typed values
    double rest = 0;          ///< the lesson's own value
    double value = 0;
    int decimals = 0;
};

/// The knobs of a panel with values that fit together: H divides D, and Hkv divides H.
std::vector<Knob> knobs_of(const LessonPanel& panel, const Knobs& set);

/// Throws Error(input) when a knob cannot take `value`; the message says which values the knob takes.
void check_knob(const LessonPanel& panel, const Knobs& set, const std::string& name, double value);

} // namespace headscope::lesson
