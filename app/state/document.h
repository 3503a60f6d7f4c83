#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headscope {

enum class MaskChoice : std::uint8_t { none, causal, causal_window, symmetric_window };
inline constexpr std::int64_t causal_window_width = 3; ///< keys a token may see in MaskChoice::causal_window
inline constexpr std::int64_t symmetric_half_width =
    1; ///< keys on either side in MaskChoice::symmetric_window

/// What the user decided, from which the problem follows. Small; compared by value.
struct Recipe {
    std::string preset = "first-lesson";
    std::string sentence;
    MaskChoice mask = MaskChoice::none;
    std::int64_t H = 0;        ///< 0: as the preset was built; else the same weights dealt to H heads
    std::int64_t Hkv = 0;      ///< 0: one per query head; else the K and V heads are averaged to Hkv
    std::uint64_t seed = 1;    ///< for presets that draw numbers
    bool identity_W_O = false; ///< W_O replaced by the identity, which needs H dv = D
    /// Tensors that the user changed (x, x_kv, W_*, b_*), whole. One whose shape the problem no longer has
    /// (after another H, Hkv or sentence) waits until it fits again.
    std::map<TensorId, TensorPtr> edits;
    std::vector<float> gains; ///< one per head; empty: all 1
    float temperature = 1.0F;
    Mask extra_mask;                     ///< rules beside `mask`
    std::shared_ptr<const Problem> base; ///< a problem from a file; preset and sentence then do not count
};

/// A recipe and the problem that follows from it. Immutable; shared between threads.
struct Document {
    Recipe recipe;
    Problem problem;
    std::shared_ptr<const Problem> unedited; ///< the same without edits, gains and temperature
    std::vector<std::string> head_roles;     ///< H texts, or empty
    std::vector<std::string> feature_names;  ///< D texts, or empty
    std::string title;                       ///< of the preset, or of the file
    std::uint64_t revision = 0;              ///< grows with every change
};
using DocumentPtr = std::shared_ptr<const Document>;

/// Throws Error(input) with the sentence to show when the recipe cannot be made into a problem.
DocumentPtr make_document(const Recipe& recipe, std::uint64_t revision);

/// The same for a recipe that differs from the document's in edits, gains and temperature alone: nothing is
/// built anew. Throws Error(input) likewise.
DocumentPtr edit_document(const Document& document, const Recipe& recipe);

/// Whether a cell of an input holds another number than the preset or the file gave it.
bool is_edited(const Document& document, TensorId tensor, std::int64_t offset);

} // namespace headscope
