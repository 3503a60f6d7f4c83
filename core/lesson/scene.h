#pragma once

#include "core/lesson/target.h"
#include "core/project/recipe.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headscope::lesson {

/// What a head's output is multiplied by; 0 switches the head off.
struct HeadGain {
    std::optional<std::int64_t> layer; ///< of a model; empty: the scene's
    std::int64_t head = 0;
    float gain = 1;
};

/// What a step shows: the problem and the view of it. An entry without a value keeps the lesson's value.
struct StepScene {
    // The problem: of a preset, or one layer of a checkpoint.
    std::optional<std::string> preset, sentence;
    std::optional<std::string> model;       ///< a checkpoint as model_folder() takes it; it reads `sentence`
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
    std::optional<bool> apart;      ///< slides the heads of split apart, or puts those of concat side by side
    std::optional<TargetIndex> row; ///< the query row stepped through; "all": the whole stage
    std::optional<std::int64_t> head, other;
    std::optional<Target> select; ///< one cell
    std::vector<Target> point;    ///< targets to outline

    // The screen of a model that is shown in place of a stage, and what is asked there.
    std::optional<std::string> screen;                ///< its name for render's --screen, such as effects
    std::optional<std::string> token, against;        ///< whose logits count; none: as the screen opens
    std::optional<std::string> corrupted;             ///< the second prompt of patching
    std::optional<std::string> patched;               ///< an id of analysis::patch_kinds, or paths
    std::optional<std::array<std::int64_t, 2>> patch; ///< the cell of patching that is selected: row, column

    int line = 0; ///< line in the file; 0: not from a file
};

/// Lays `over` over `under`: every entry that `over` gives replaces the entry of `under`. Gains and edits of
/// both are kept; only the points of `over` are kept. A preset takes the place of a model, and a model that
/// of a preset with its edits.
StepScene laid_over(const StepScene& under, const StepScene& over);

/// Whether a scene laid over another can change its numbers, and not only what is shown of them.
bool changes_problem(const StepScene& over);

/// The problem of a scene without a model. Throws Error(input) when the preset, a cell, a head or a word does
/// not exist.
project::Recipe recipe_of(const StepScene& scene);

} // namespace headscope::lesson
