#pragma once

#include "core/analysis/attention_set.h"
#include "core/checkpoint/model/stacks.h"
#include "core/project/recipe.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace headscope::app {

struct ModelPart;
using ModelPartPtr = std::shared_ptr<const ModelPart>;

/// A problem that the user builds from a preset, a sentence or a file of tensors.
struct Experiment {
    std::vector<std::string> head_roles = {};    ///< H texts, or empty
    std::vector<std::string> feature_names = {}; ///< D texts, or empty
};

/// What is read of a layer of attention weights.
struct ReadHeads {
    std::vector<std::int64_t> heads = {}; ///< ascending; none: all of the layer
    bool mean = true;                     ///< and the mean over all heads
    bool operator==(const ReadHeads&) const = default;

    bool all() const { return heads.empty(); }
    bool has(std::int64_t h) const { return all() || std::ranges::binary_search(heads, h); }
};

/// Attention weights from elsewhere. Nothing is known of what they were computed from.
struct GivenWeights {
    AttentionSetPtr set; ///< never null
    std::int64_t layer = 0;
    ReadHeads read = {}; ///< of a large layer only what is looked at
};

/// The attention of one layer of a checkpoint, with a prompt.
struct CheckpointLayer {
    ModelPartPtr part; ///< never null
    checkpoint::AttentionPlace place;
    /// The weights of the run with tokens hidden, words merged or means added, shown in place of the stages
    /// of the layer; null: the stages are shown.
    AttentionSetPtr reading = {};
};

/// What is worked on, and which of three kinds it is. Immutable; shared between threads.
struct Document {
    project::Recipe recipe;                  ///< of GivenWeights: that of the document before, to return to
    Problem problem;                         ///< of GivenWeights: its sizes and tokens alone
    std::shared_ptr<const Problem> unedited; ///< the same without edits, gains and temperature
    std::string title;                       ///< of the preset, of the file, or of the checkpoint
    std::uint64_t revision = 0;              ///< grows with every change
    std::variant<Experiment, GivenWeights, CheckpointLayer> kind;

    const Experiment* experiment() const { return std::get_if<Experiment>(&kind); }
    const GivenWeights* given() const { return std::get_if<GivenWeights>(&kind); }
    const CheckpointLayer* checkpoint() const { return std::get_if<CheckpointLayer>(&kind); }
    bool is_experiment() const { return experiment() != nullptr; }
    bool is_given() const { return given() != nullptr; }
    bool is_checkpoint() const { return checkpoint() != nullptr; }

    // What follows from the kind.
    /// The attention weights that stand in place of computed stages; null where the stages are computed.
    const AttentionSetPtr& shown_weights() const;
    bool shows_weights() const { return shown_weights() != nullptr; }
    /// Its maps are too large to be held: the weights are made, or read, where they are looked at, and there
    /// is no trace.
    bool is_long() const {
        const Dims& d = problem.dims;
        return is_given() ? too_large_to_hold(d.H, d.Tq, d.Tk) : std::max(d.Tq, d.Tk) > most_held;
    }
    /// Of given weights: a map of a head, or the room for a layer of which some heads are read.
    static constexpr bool too_large_to_hold(std::int64_t H, std::int64_t Tq, std::int64_t Tk) {
        return Tq * Tk > most_held * most_held || H * Tq * Tk > 128 * most_held * most_held;
    }
    static constexpr std::int64_t most_held = 4096; ///< tokens
    /// Its heads are some of many: there is a board of all of them.
    bool has_board() const { return !is_experiment(); }
    /// Of the board; 0 without one.
    std::int64_t layer() const;
    /// Whose heads the board has: of an encoder-decoder one of three, else `own`.
    checkpoint::Stack stack() const;
    /// Of a checkpoint. Throws std::bad_variant_access for the other kinds.
    const ModelPartPtr& part() const { return std::get<CheckpointLayer>(kind).part; }
    /// Of an experiment; empty for the other kinds.
    const std::vector<std::string>& head_roles() const;
    const std::vector<std::string>& feature_names() const;
};
using DocumentPtr = std::shared_ptr<const Document>;

/// Throws Error(input) with the sentence to show when the recipe cannot be made into a problem.
DocumentPtr make_document(const project::Recipe& recipe, std::uint64_t revision);

/// The same for a recipe that differs from the document's in edits, gains and temperature alone: nothing is
/// built anew. Throws Error(input) likewise.
DocumentPtr edit_document(const Document& document, const project::Recipe& recipe);

/// A tensor that the user may change, as the document has it; null where it has none. Weights around a
/// checkpoint's attention are held by the model (see Model), and read again when nothing else holds them. Of
/// tables it is the checkpoint's own: edited rows are kept beside it.
TensorPtr owned_tensor(const Document& document, TensorId tensor);
/// One number of it, of a table with its edits. The document must have the tensor, and it the cell.
float owned_value(const Document& document, TensorId tensor, const Index& at);
/// The same as the preset, the file or the checkpoint gave it.
TensorPtr unedited_tensor(const Document& document, TensorId tensor);
/// Whether a cell of an input holds another number than the preset, the file or the checkpoint gave it.
bool is_edited(const Document& document, TensorId tensor, std::int64_t offset);

} // namespace headscope::app
