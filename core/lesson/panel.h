#pragma once

#include "core/lesson/target.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lesson {

/// What the learner set on a panel, by name; what is not set stands where the lesson put it.
using Knobs = std::map<std::string, double>;

/// What one layer costs for the sizes on its knobs.
struct CostPanel {
    std::int64_t D = 512, H = 8, T = 1024;
    std::int64_t Hkv = 0; ///< 0: as many as H
};

/// A model of the literature, as a lesson gives it.
struct ModelSizes {
    std::string name;
    std::int64_t layers = 0, H = 0, Hkv = 0, dk = 0;
};
/// The key/value cache of a model whose sizes are on its knobs, as MHA, GQA and MQA.
struct CachePanel {
    std::int64_t layers = 32, H = 32, Hkv = 8, dk = 128, T = 8192, bytes = 2;
    std::vector<ModelSizes> models = {}; ///< one click each
};

/// Heads of the problem on screen that merge into one, seen in one query row.
struct BlurPanel {
    TargetIndex row;
    std::vector<std::int64_t> heads{0, 1, 2};
    std::int64_t H = 0; ///< the weights are dealt to so many first; 0: as they are
};

/// Q, K and V of the problem on screen, by a loop over heads and by one product.
struct LoopPanel {};

/// Something to try out in a step: knobs, and what the engine or the formulas make of them.
struct LessonPanel {
    std::variant<CostPanel, CachePanel, BlurPanel, LoopPanel> kind;
    std::vector<std::string> knobs = {}; ///< names of those that are shown; empty: all
    int line = 0;                        ///< in the file; also what it is known by
};

/// One knob as it stands.
struct Knob {
    std::string name;               ///< "T"
    std::string says;               ///< what it counts
    std::vector<double> stops = {}; ///< where a slider stops, ascending; empty: anywhere between low and high
    double low = 0, high = 1;       ///< what may be typed
    double rest = 0;                ///< where the lesson put it
    double value = 0;
    int decimals = 0;
};

/// The knobs of a panel, brought to values that go together: H divides D, and Hkv divides H.
std::vector<Knob> knobs_of(const LessonPanel& panel, const Knobs& set);

/// Throws Error(input) when a knob cannot stand there, saying what it takes.
void check_knob(const LessonPanel& panel, const Knobs& set, const std::string& name, double value);

} // namespace headscope::lesson
