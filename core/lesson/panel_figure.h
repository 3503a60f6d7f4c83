#pragma once

#include "core/analysis/projection_loop.h"
#include "core/attention/cost.h"
#include "core/engine/engine.h"
#include "core/lesson/lesson_model.h"
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
    std::int64_t layers = 0, H = 0, dk = 0, latent = 0, T = 0, bytes = 0;
    struct Row {
        CacheVariant variant;
        std::int64_t per_token = 0, all = 0; ///< bytes for one token and for T
        Curve curve;                         ///< bytes over T, up to longest_text
    };
    std::vector<Row> rows; ///< see cache_variants
};

struct MergeFigure {
    std::int64_t row = 0;
    std::vector<std::string> words; ///< Tk: the tokens of the keys
    struct Head {
        std::int64_t head = 0;
        std::vector<float> weights; ///< Tk: the weights of the row
        double entropy = 0;         ///< nats
        std::int64_t top = 0;       ///< the key with the largest weight in this head
    };
    std::vector<Head> heads;
    double entropy = 0;        ///< mean of the heads' entropies, nats
    Curve entropy_by_fraction; ///< that mean for merge fractions from 0 to 1
};

struct LoopFigure {
    Dims dims;
    std::vector<analysis::ProjectionPair> projections;
};

struct SamplingFigure {
    struct Row {
        std::string word;
        double probability = 0, sampling_probability = 0; ///< of the model, and after temperature and cutoffs
    };
    std::vector<Row> rows;            ///< most probable first
    std::int64_t candidate_count = 0; ///< number of tokens that can be sampled
    double entropy = 0;               ///< of the model's own distribution, in nats
};

struct HeadsFigure {
    struct Cell {
        double number = 0;
        std::string word; ///< the token with that weight; empty: the cell is only a number
    };
    struct Row {
        analysis::HeadPlace head;
        std::vector<Cell> cells; ///< one for each column
    };
    std::vector<std::string> columns;
    std::vector<Row> rows;
    double probability = 0; ///< of the word, with all heads unchanged; only for the column `without`
};

struct PathFigure {
    analysis::HeadPlace from;
    std::string query, key;
    struct Row {
        analysis::HeadPlace to;
        double whole = 0, without_queries = 0, without_keys = 0; ///< the displayed weight
        /// the token with the row's largest weight after removal from the keys
        std::string reads_without_keys;
    };
    std::vector<Row> rows;
};

struct PositionsFigure {
    std::int64_t distance = 0; ///< query - key
    double angle = 0;          ///< of the pair for one step, in degrees
    double rotation = 0;       ///< rotation of the pair over the distance, in degrees, from -180 to 180
    double pair = 0;           ///< cosine of that angle
    double all = 0;            ///< mean of the cosines of all pairs
    double bias = 0;           ///< of head 0
    std::int64_t pairs = 0;
    Curve pair_curve = {}, all_curve = {}, bias_curve = {}; ///< over distances 0, 1, ...
};

using PanelFigure = std::variant<CostFigure, CacheFigure, MergeFigure, LoopFigure, SamplingFigure,
                                 HeadsFigure, PathFigure, PositionsFigure>;

// Figures for a checkpoint's run. Each function throws Error(input) for a token or head that does not exist.
SamplingFigure sampling_figure(const LessonModel& model, const SamplingPanel& panel);
HeadsFigure heads_figure(const LessonModel& model, const HeadsPanel& panel);
PathFigure path_figure(const LessonModel& model, const PathPanel& panel);
/// Rotation (Su et al. 2021): a pair p of numbers rotates by base^(-2p/dk) per step, and the score of a
/// vector with itself, with all pairs of equal length, is the mean of cos(distance angle). The dot product of
/// two rows of sines (Vaswani et al. 2017) has the same form. Bias: -2^(-8/H) distance (Press et al. 2022).
PositionsFigure positions_figure(const PositionsPanel& panel);

/// The content of a panel for the given knobs. The engine computes the weights for the panel's own variant of
/// the problem. `model`: the checkpoint that the problem is a layer of, or null. Throws Error(input) if the
/// problem lacks something that the panel shows, or is too large to recompute while a knob is dragged.
PanelFigure compute_panel(const LessonPanel& panel, const Knobs& set, const Problem& problem,
                          const LessonModel* model, engine::Engine& engine);

} // namespace headscope::lesson
