#pragma once

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

/// Something to try out in a step: knobs, and the numbers that the engine or the formulas compute from them.
struct LessonPanel {
    std::variant<CostPanel, CachePanel, BlurPanel, LoopPanel> kind;
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
