#pragma once

#include "core/lesson/target.h"
#include "core/project/recipe.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// What a step shows: the problem, and how it is looked at. Whatever is not given stays as the lesson has it.
struct StepScene {
    // The problem.
    std::optional<std::string> preset, sentence;
    std::optional<std::string> kv_sentence; ///< empty: self-attention
    std::optional<project::MaskChoice> mask;
    std::optional<Mask> mask_rules; ///< the list form of core/project/mask_json.h
    std::optional<std::int64_t> H, Hkv;
    std::optional<std::uint64_t> seed;
    std::optional<bool> identity_W_O;
    std::optional<float> temperature;
    std::vector<std::pair<std::int64_t, float>> gains;
    std::vector<std::pair<Target, float>> edits; ///< every cell of the target is set

    // The view.
    std::optional<StageGroup> stage;
    std::optional<std::string> view;       ///< heatmap, arcs, text or graph
    std::optional<std::string> heads;      ///< each, difference or mean
    std::optional<std::string> projection; ///< q, k or v
    std::optional<bool> apart;             ///< the heads of split slid apart, or those of concat side by side
    std::optional<TargetIndex> row;        ///< the query row stepped through; "all" for the whole stage
    std::optional<std::int64_t> head, other;
    std::optional<Target> select; ///< one cell
    std::vector<Target> point;    ///< outlined
    int line = 0;                 ///< in the file; 0: not given
};

/// `over` laid over `under`: what it gives replaces. Gains and edits are added to those of `under`, points
/// are its own alone.
StepScene laid_over(const StepScene& under, const StepScene& over);

/// The problem of a scene. Throws Error(input) when there is no such problem, cell, head or word.
project::Recipe recipe_of(const StepScene& scene);

} // namespace headscope::lesson
