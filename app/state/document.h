#pragma once

#include "core/analysis/attention_set.h"
#include "core/checkpoint/model/stacks.h"
#include "core/project/recipe.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace headscope {
struct AttentionGraph;
}

namespace headscope::app {

struct RunSpec;
using RunSpecPtr = std::shared_ptr<const RunSpec>;

/// An attention input that the user builds from a preset, a sentence or a file of tensors.
struct Experiment {
    std::vector<std::string> head_roles = {};    ///< H texts, or empty
    std::vector<std::string> feature_names = {}; ///< D texts, or empty
};

/// The heads of a layer of attention weights that were read.
struct LoadedHeads {
    std::vector<std::int64_t> heads = {}; ///< ascending; empty: all heads of the layer
    bool mean = true;                     ///< the mean over all heads was read as well
    bool operator==(const LoadedHeads&) const = default;

    bool all() const { return heads.empty(); }
    bool has(std::int64_t h) const { return all() || std::ranges::binary_search(heads, h); }
};

/// Attention weights from a file. The inputs that they were computed from are unknown.
struct GivenWeights {
    AttentionSetPtr set; ///< never null
    std::int64_t layer = 0;
    LoadedHeads loaded = {}; ///< for a large layer, only the heads that the view needs
};

/// The attention of one layer of a checkpoint for a prompt.
struct CheckpointLayer {
    RunSpecPtr part; ///< never null
    checkpoint::AttentionPlace place;
    /// The weights of the run with tokens hidden, words merged or means added, shown instead of the stages of
    /// the layer; null: the stages are shown.
    AttentionSetPtr transformed_weights = {};
};

/// The graph of a document's problem, built when it is first asked for. Any thread may ask. A copy starts
/// without a graph, because copies of documents are made to be changed.
class DocumentGraph {
public:
    DocumentGraph() = default;
    DocumentGraph(const DocumentGraph&) {}
    DocumentGraph& operator=(const DocumentGraph&) {
        graph_ = nullptr;
        return *this;
    }
    ~DocumentGraph() = default;
    const AttentionGraph& of(const Problem& problem) const;

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const AttentionGraph> graph_;
};

/// The current document, of one of three kinds. Immutable; shared between threads.
struct Document {
    project::Recipe recipe; ///< for GivenWeights: that of the previous document, to return to
    Problem problem;        ///< for GivenWeights: only its sizes and tokens
    std::shared_ptr<const Problem> unedited; ///< the same without edits, head gains and temperature
    std::string title;                       ///< name of the preset, file or checkpoint
    std::uint64_t revision = 0;              ///< increases with every change
    std::variant<Experiment, GivenWeights, CheckpointLayer> kind;
    DocumentGraph graph = {};

    /// The computation of the problem, node by node. Valid as long as the document.
    const AttentionGraph& attention() const { return graph.of(problem); }
    const Experiment* experiment() const { return std::get_if<Experiment>(&kind); }
    const GivenWeights* given() const { return std::get_if<GivenWeights>(&kind); }
    const CheckpointLayer* checkpoint() const { return std::get_if<CheckpointLayer>(&kind); }
    bool is_experiment() const { return experiment() != nullptr; }
    bool is_given() const { return given() != nullptr; }
    bool is_checkpoint() const { return checkpoint() != nullptr; }

    // Properties that depend on the kind.
    /// The attention weights that replace the computed stages; null where the stages are computed.
    const AttentionSetPtr& shown_weights() const;
    bool shows_weights() const { return shown_weights() != nullptr; }
    /// Returns true if the maps are too large to hold in memory. The weights are then computed, or read, only
    /// where they are visible, and there is no trace.
    bool is_long() const {
        const Dims& d = problem.dims;
        return is_given() ? too_large_to_hold(d.H, d.Tq, d.Tk) : std::max(d.Tq, d.Tk) > max_tokens_in_memory;
    }
    /// For given weights: returns true if one head's map, or a whole layer, exceeds the limit.
    static constexpr bool too_large_to_hold(std::int64_t H, std::int64_t Tq, std::int64_t Tk) {
        return Tq * Tk > max_tokens_in_memory * max_tokens_in_memory ||
               H * Tq * Tk > 128 * max_tokens_in_memory * max_tokens_in_memory;
    }
    static constexpr std::int64_t max_tokens_in_memory = 4096; ///< tokens
    /// Returns true if there is a grid of heads of all layers.
    bool has_head_grid() const { return !is_experiment(); }
    /// The layer of the grid that is open; 0 without a grid.
    std::int64_t layer() const;
    /// The stack whose heads the grid shows: one of three for an encoder-decoder, else `own`.
    checkpoint::Stack stack() const;
    /// For a checkpoint. Throws std::bad_variant_access for the other kinds.
    const RunSpecPtr& part() const { return std::get<CheckpointLayer>(kind).part; }
    /// For an experiment; empty for the other kinds.
    const std::vector<std::string>& head_roles() const;
    const std::vector<std::string>& feature_names() const;
};
using DocumentPtr = std::shared_ptr<const Document>;

/// Throws Error(input) with a message for the user if the recipe does not give a valid problem.
DocumentPtr make_document(const project::Recipe& recipe, std::uint64_t revision);

/// The same for a recipe that differs from the document's only in edits, head gains and temperature; reuses
/// the other parts. Throws Error(input) likewise.
DocumentPtr edit_document(const Document& document, const project::Recipe& recipe);

/// Returns a tensor that the user may change, with the document's edits; null if the document does not have
/// it. The weights around a checkpoint's attention are owned by the model (see Model) and are read again when
/// nothing else holds them. For tables, returns the checkpoint's own table; edited rows are stored
/// separately.
TensorPtr owned_tensor(const Document& document, TensorId tensor);
/// Returns one number of that tensor, or of a table with its edits. The tensor must exist and contain the
/// cell.
float owned_value(const Document& document, TensorId tensor, const Index& at);
/// Returns the tensor without edits, as in the preset, the file or the checkpoint.
TensorPtr unedited_tensor(const Document& document, TensorId tensor);
/// Returns true if a cell of an input differs from the preset, the file or the checkpoint.
bool is_edited(const Document& document, TensorId tensor, std::int64_t offset);

} // namespace headscope::app
