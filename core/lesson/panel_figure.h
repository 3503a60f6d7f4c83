#pragma once

#include "core/analysis/projection_loop.h"
#include "core/attention/cost.h"
#include "core/engine/engine.h"
#include "core/lesson/panel.h"

#include <array>
#include <variant>
#include <vector>

namespace headscope::lesson {

/// Pairs (T, value) for several lengths T.
using Curve = std::vector<std::pair<double, double>>;

inline constexpr std::int64_t longest_text = 131072;

struct CostFigure {
    Dims dims;
    Cost cost;                    ///< cost of one sentence, without biases
    Cost full_width;              ///< the cost if each of the H heads had width D
    double crossing = 0;          ///< the T above which attention costs more than the projections: D + Hkv dk
    Curve projections, attention; ///< FLOP over T, up to longest_text
};

struct CacheFigure {
    std::int64_t layers = 0, H = 0, dk = 0, T = 0, bytes = 0;
    struct Row {
        std::string name; ///< "MHA", "GQA", "MQA"
        std::int64_t Hkv = 0;
        std::int64_t per_token = 0, all = 0; ///< bytes for one token and for T
        Curve curve;                         ///< bytes over T, up to longest_text
    };
    std::vector<Row> rows; ///< MHA, the knob's Hkv if it is neither H nor 1, MQA
};

struct BlurFigure {
    std::int64_t row = 0;
    std::vector<std::string> words; ///< Tk: the tokens of the keys
    struct Head {
        std::int64_t head = 0;
        std::vector<float> weights; ///< Tk: the weights of the row
        double entropy = 0;         ///< nats
        std::int64_t top = 0;       ///< the key with the largest weight in this head
    };
    std::vector<Head> heads;
    double entropy = 0;     ///< mean of the heads' entropies, nats
    Curve entropy_by_share; ///< that mean for shares from 0 to 1
};

struct LoopFigure {
    Dims dims;
    std::vector<analysis::ProjectionPair> projections;
};

using PanelFigure = std::variant<CostFigure, CacheFigure, BlurFigure, LoopFigure>;

/// The content of a panel for the given knobs. The engine computes the weights, on the panel's own variant of
/// the problem. Throws Error(input) when the problem lacks something that the panel shows, or when the
/// problem is too large to compute between two frames.
PanelFigure compute_panel(const LessonPanel& panel, const Knobs& set, const Problem& problem,
                          engine::Engine& engine);

} // namespace headscope::lesson
