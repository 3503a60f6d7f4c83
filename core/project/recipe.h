#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headscope::project {

enum class MaskChoice : std::uint8_t { none, causal, causal_window, symmetric_window };
inline constexpr std::int64_t causal_window_width = 3; ///< keys a token may see in MaskChoice::causal_window
inline constexpr std::int64_t symmetric_half_width =
    1; ///< keys on either side in MaskChoice::symmetric_window

/// What the user decided, from which the problem follows. Small; compared by value.
struct Recipe {
    std::string preset = "first-lesson";
    std::string sentence{};
    std::string kv_sentence{}; ///< keys and values come from this one; empty: self-attention
    MaskChoice mask = MaskChoice::none;
    std::int64_t H = 0;        ///< 0: as the preset was built; else the same weights dealt to H heads
    std::int64_t Hkv = 0;      ///< 0: one per query head; else the K and V heads are averaged to Hkv
    std::uint64_t seed = 1;    ///< for presets that draw numbers
    bool identity_W_O = false; ///< W_O replaced by the identity, which needs H dv = D
    /// Tensors that the user changed (x, x_kv, W_*, b_*), whole. One whose shape the problem no longer has
    /// (after another H, Hkv or sentence) waits until it fits again.
    std::map<TensorId, TensorPtr> edits{};
    std::vector<float> gains{}; ///< one per head; empty: all 1
    float temperature = 1.0F;
    Mask extra_mask{}; ///< rules beside `mask`
    /// Painted by hand: these rules stand instead of all others. The first is an ExplicitMask of shape (B, H,
    /// Tq, Tk); where the problem has other sizes it waits until it fits again. Empty: nothing was painted.
    Mask painted_mask{};
    std::shared_ptr<const Problem> base{}; ///< a problem from a file; preset and sentences then do not count
};

/// What a recipe gives before its edits, gains and temperature are laid over it.
struct BuiltRecipe {
    Problem problem;
    std::vector<std::string> head_roles;    ///< H texts, or empty
    std::vector<std::string> feature_names; ///< D texts, or empty
    std::string title;                      ///< of the preset, or of the file
};

/// Throws Error(input) with the sentence to show when the recipe cannot be made into a problem.
BuiltRecipe build_recipe(const Recipe& recipe);

/// The title of a document in the user's language: that of a preset is translated, others are names.
std::string translated_title(std::string_view title);

/// The sentence, or both: "The cat / Le chat". Empty for a problem from a file.
std::string recipe_title(const Recipe& recipe);

/// Whether there is a painted mask and it has the sizes of the problem.
bool painted_mask_fits(const Recipe& recipe, const Dims& dims);

/// Lays the recipe's edits, gains, temperature and painted mask over the unedited problem. Edits and gains
/// whose shape the problem does not have are left out. Throws Error(input) when the result is not valid.
Problem with_edits(const Problem& unedited, const Recipe& recipe);

} // namespace headscope::project
