#pragma once

#include "core/lesson/target.h"
#include "core/project/recipe.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// The head gain: a head's output is multiplied by it; 0 ablates the head.
struct HeadGain {
    std::optional<std::int64_t> layer; ///< of a model; empty: the scene's layer
    std::int64_t head = 0;
    float gain = 1;
};

/// The problem and the view of a step. An entry without a value keeps the lesson's value.
struct StepScene {
    // The problem: of a preset, or one layer of a checkpoint.
    std::optional<std::string> preset, sentence;
    std::optional<std::string> model;       ///< a checkpoint for model_folder(), with `sentence` as its text
    std::optional<std::int64_t> layer;      ///< of the model
    std::optional<std::string> kv_sentence; ///< empty: self-attention
    std::optional<project::MaskChoice> mask;
    std::optional<Mask> mask_rules; ///< the list form of core/project/mask_json.h
    std::optional<std::int64_t> H, Hkv;
    std::optional<std::uint64_t> seed;
    std::optional<bool> identity_W_O;
    std::optional<float> temperature;
    std::vector<HeadGain> gains;
    std::vector<std::pair<Target, float>> edits; ///< sets every cell of the target to the number

    // The view.
    std::optional<StageGroup> stage;
    std::optional<std::string> view;       ///< heatmap, arcs, text or graph
    std::optional<std::string> heads;      ///< each, difference or mean
    std::optional<std::string> projection; ///< q, k or v
    std::optional<bool> apart;      ///< separates the heads of split, or puts those of concat side by side
    std::optional<TargetIndex> row; ///< the query row stepped through; "all": the whole stage
    std::optional<std::int64_t> head, other;
    std::optional<Target> select; ///< one cell
    std::vector<Target> point;    ///< targets to outline

    // The screen of a model that is shown instead of a stage, and its settings.
    std::optional<std::string> screen; ///< its name in render's --screen, such as effects
    /// tokens of the logit difference; empty: the screen's default
    std::optional<std::string> token, against;
    std::optional<std::string> corrupted;             ///< the second prompt of patching
    std::optional<std::string> patched;               ///< an id of analysis::patch_kinds, or paths
    std::optional<std::array<std::int64_t, 2>> patch; ///< the selected cell of patching: row, column

    int line = 0; ///< line in the file; 0: not from a file
};

/// Combines two scenes: every entry of `over` replaces that of `under`. Gains and edits of both are kept. The
/// points of `over` replace those of `under`, which are also dropped if `over` changes the view. A preset
/// replaces a model, and a model replaces a preset and its edits.
StepScene combine_scenes(const StepScene& under, const StepScene& over);

/// Returns true if `over` can change the numbers of a scene, not only their display.
bool changes_problem(const StepScene& over);

/// The problem of a scene without a model. Throws Error(input) if the preset, a cell, a head or a word does
/// not exist.
project::Recipe recipe_of(const StepScene& scene);

} // namespace headscope::lesson
