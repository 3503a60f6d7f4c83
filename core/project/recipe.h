#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headscope::project {

enum class MaskChoice : std::uint8_t { none, causal, causal_window, symmetric_window };
/// keys that a token can attend to in MaskChoice::causal_window
inline constexpr std::int64_t causal_window_width = 3;
inline constexpr std::int64_t symmetric_half_width =
    1; ///< keys on either side in MaskChoice::symmetric_window

/// The user's choices, which determine the problem. Small; compared by value.
struct Recipe {
    std::string preset = "first-lesson";
    std::string sentence{};
    std::string kv_sentence{}; ///< source of keys and values; empty: self-attention
    MaskChoice mask = MaskChoice::none;
    std::int64_t H = 0;        ///< 0: as in the preset; else the same parameters divided among H heads
    std::int64_t Hkv = 0;      ///< 0: one per query head; else the K and V heads are averaged to Hkv
    std::uint64_t seed = 1;    ///< for presets with random numbers
    bool identity_W_O = false; ///< W_O replaced by the identity, which requires H dv = D
    /// Whole tensors that the user changed (x, x_kv, W_*, b_*). An edit whose shape does not match the
    /// problem (after a change of H, Hkv or the sentence) is pending until it matches again.
    std::map<TensorId, TensorPtr> edits{};
    std::vector<float> gains{}; ///< head gains; empty: all 1
    float temperature = 1.0F;
    Mask extra_mask{}; ///< rules in addition to `mask`
    /// A mask painted by hand, which replaces all other rules. Its first rule is an ExplicitMask of shape (B,
    /// H, Tq, Tk); while the problem has other sizes it is pending. Empty: nothing was painted.
    Mask painted_mask{};
    std::shared_ptr<const Problem> base{}; ///< a problem from a file, which replaces preset and sentences
};

/// The result of a recipe before its edits, gains and temperature are applied.
struct BuiltRecipe {
    Problem problem;
    std::vector<std::string> head_roles;    ///< H texts, or empty
    std::vector<std::string> feature_names; ///< D texts, or empty
    std::string title;                      ///< of the preset, or of the file
};

/// Throws Error(input) with the sentence to show if the recipe does not give a problem.
BuiltRecipe build_recipe(const Recipe& recipe);

/// The title of a document in the user's language: that of a preset is translated, others are names.
std::string translated_title(std::string_view title);

/// The sentence, or both: "The cat / Le chat". Empty for a problem from a file.
std::string recipe_title(const Recipe& recipe);

/// Returns true if there is a painted mask with the sizes of the problem.
bool painted_mask_fits(const Recipe& recipe, const Dims& dims);

/// Applies the recipe's edits, gains, temperature and painted mask to the unedited problem. Edits and gains
/// whose shape does not match the problem are omitted. Throws Error(input) if the result is not valid.
Problem with_edits(const Problem& unedited, const Recipe& recipe);

} // namespace headscope::project
