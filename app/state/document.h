#pragma once

#include "core/analysis/attention_set.h"
#include "core/project/recipe.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

struct ModelPart;

/// A recipe and the problem that follows from it. Immutable; shared between threads.
struct Document {
    project::Recipe recipe;
    Problem problem;
    std::shared_ptr<const Problem> unedited; ///< the same without edits, gains and temperature
    std::vector<std::string> head_roles;     ///< H texts, or empty
    std::vector<std::string> feature_names;  ///< D texts, or empty
    std::string title;                       ///< of the preset, or of the file
    std::uint64_t revision = 0;              ///< grows with every change
    AttentionSetPtr attention;               ///< weights of somebody else's, shown as they are; mostly null
    std::int64_t layer = 0;                  ///< of `attention` or `model`, whose heads `problem` has
    std::shared_ptr<const ModelPart> model;  ///< the checkpoint that `problem` is a layer of; mostly null

    /// Its heads are some of many: there is a board of all of them.
    bool has_board() const { return attention != nullptr || model != nullptr; }
};
using DocumentPtr = std::shared_ptr<const Document>;

/// Throws Error(input) with the sentence to show when the recipe cannot be made into a problem.
DocumentPtr make_document(const project::Recipe& recipe, std::uint64_t revision);

/// The same for a recipe that differs from the document's in edits, gains and temperature alone: nothing is
/// built anew. Throws Error(input) likewise.
DocumentPtr edit_document(const Document& document, const project::Recipe& recipe);

/// Whether a cell of an input holds another number than the preset or the file gave it.
bool is_edited(const Document& document, TensorId tensor, std::int64_t offset);

} // namespace headscope::app
