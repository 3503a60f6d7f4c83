#pragma once

#include "app/state/document.h"
#include "app/state/head_edits.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headscope::analysis {
struct CheckpointComparison;
} // namespace headscope::analysis

namespace headscope::app {

/// An activation of another prompt's run that is patched into this run. The patched rows are part of `edits`.
struct PatchedRun {
    RunSpecPtr clean;                            ///< the clean prompt, which the activation is taken from
    std::string description;                     ///< a sentence that describes the patched activation
    StageGroup step{};                           ///< the step that is patched
    std::int64_t layer = 0, head = -1, row = -1; ///< -1: all of them
};

/// The inputs of a pass through a checkpoint: everything that its numbers depend on. Small: unedited weights
/// stay in the file. Immutable; compared by identity.
struct RunSpec {
    checkpoint::TextModelPtr model;
    std::string prompt; ///< as typed, followed by the generated text
    std::string pair;   ///< the second of two texts; empty: none
    std::string target; ///< the same for the decoder's text if an encoder reads the prompt; else empty
    std::shared_ptr<const checkpoint::ModelInputs> inputs; ///< the tokens of both texts
    bool write_target = false; ///< the model generates the target; only without inputs
    std::int64_t written = 0;  ///< the number of tokens at the end that were generated, not typed
    checkpoint::ModelEdits edits;
    std::map<std::int64_t, LayerMarks> marks;            ///< the changes made by `edits`, by attention number
    std::shared_ptr<const PatchedRun> opened_patch = {}; ///< see patched_run
    /// The comparison with another checkpoint that `edits` began with; null: none.
    std::shared_ptr<const analysis::CheckpointComparison> compared = {};

    const checkpoint::ModelConfig& config() const { return model->model->config(); }
    /// Returns true for an encoder-decoder: the encoder reads the prompt, the decoder writes the target.
    bool two_texts() const { return config().encoder != nullptr; }
    /// Returns true if the second text has a field. Decoder-only models are not trained on text pairs, so the
    /// field appears only if a second text was given, for example by a project.
    bool offers_pair() const {
        return !pair.empty() || (model->pairs.known && (model->masked() || two_texts()));
    }
};

/// Returns true if the part's edits are exactly those of its comparison with another checkpoint, which can be
/// repeated, so that they are not work of the user.
bool holds_only_comparison(const RunSpec& part);

/// Returns the patch in the part's run; null if there is none or it was removed.
const PatchedRun* patched_run(const RunSpec& part);
/// Returns the patch that sets a number around a layer's attention; null for a number that the layer
/// computed.
const checkpoint::PatchedRows* patched_at(const RunSpec& part, std::int64_t n, const CellAddress& cell);

/// Returns a document for one attention of a checkpoint, by its number. `base`: the attention without edits,
/// with x from the previous layers; the part's edits are applied to it. Throws Error(input) if the result is
/// not valid.
DocumentPtr model_document(const RunSpecPtr& part, std::int64_t attention,
                           const std::shared_ptr<const Problem>& base, std::uint64_t revision);

/// Returns the checkpoint document after a change of edits and head gains of the open layer. `all_dropped`:
/// also removes the edits of other layers. Throws Error(input) likewise.
DocumentPtr edit_model_document(const Document& document, project::Recipe recipe, bool all_dropped);

/// Returns the tokens of the queries of a checkpoint's document: the encoder's text for the encoder stack,
/// else the other text.
const checkpoint::ModelInputs& read_by_queries(const Document& document);
/// Returns a table of the document's stack with its edits: W_E, W_P, W_type or W_U.
checkpoint::EditedTable edited_table(const Document& document, TensorId table);
/// Returns the document with new numbers for rows of a table. A row that equals the checkpoint's row is no
/// longer an edit.
DocumentPtr with_table_rows(const Document& document, TensorId table, const checkpoint::TableRows& rows);
/// Returns the document with a fixed value for one number of mlp_act in the open layer; without a value, the
/// number is computed again.
DocumentPtr with_activation(const Document& document, const CellAddress& cell, std::optional<float> value);

/// Returns the document with another gain for one head, of the open attention or of another one.
DocumentPtr with_head_gain(const Document& document, checkpoint::AttentionPlace place, std::int64_t head,
                           float gain);
/// Returns the gain of a head in the document's run.
float head_gain(const RunSpec& part, checkpoint::AttentionPlace place, std::int64_t head);

/// Returns true if two problems of one attention have the same input vectors.
bool same_vectors(const Problem& a, const Problem& b);

/// Returns the number of the attention that a checkpoint's document shows.
std::int64_t open_attention(const Document& document);
/// "L5"; for an encoder-decoder "encoder L5", "decoder L5" or "cross L5".
std::string attention_name(const RunSpec& part, checkpoint::AttentionPlace place);

/// Returns the edits of a run by layer. Reads the weights of those layers: not for the UI thread.
std::map<std::int64_t, LayerMarks> marks_of(const checkpoint::ModelRun& run,
                                            const checkpoint::ModelEdits& edits);

/// Returns the number of the first attention whose edits differ; nothing if there is none.
std::optional<std::int64_t> first_difference(const checkpoint::ModelEdits& a,
                                             const checkpoint::ModelEdits& b);

/// Return the name of the open layer of a document with a grid of heads, "L5", "B5" or "cross L5", and of one
/// of its heads, "L5 H1".
std::string open_layer_name(const Document& document);
std::string open_head_name(const Document& document, std::int64_t h);

} // namespace headscope::app
