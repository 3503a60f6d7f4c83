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

namespace headscope::app {

/// An activation of another prompt's run that stands in the run of this one. The rows are among its edits.
struct PatchedRun {
    ModelPartPtr own;                            ///< the prompt that the activation is taken from
    std::string words;                           ///< what comes from there, a sentence
    StageGroup stop{};                           ///< where it stands
    std::int64_t layer = 0, head = -1, row = -1; ///< -1: all of them
};

/// What decides the numbers of a pass through a checkpoint. Small: weights stay in the file but for what was
/// changed. Immutable; compared by identity.
struct ModelPart {
    checkpoint::TextModelPtr model;
    std::string prompt; ///< as it was typed, and what was written
    std::string pair;   ///< the second of two texts; empty: none
    std::string target; ///< the same of the decoder's text where an encoder reads the prompt; else empty
    std::shared_ptr<const checkpoint::ModelInputs> inputs; ///< the tokens of both
    bool write_target = false; ///< the model is to write the target; only without inputs
    std::int64_t written = 0;  ///< how many tokens, the last, were taken from predictions and not typed
    checkpoint::ModelEdits edits;
    std::map<std::int64_t, LayerMarks> marks; ///< what the edits change, by the number of the attention
    std::shared_ptr<const PatchedRun> opened_patch = {}; ///< see patched_run

    const checkpoint::Architecture& architecture() const { return model->model->architecture(); }
    /// An encoder reads the prompt, and a decoder writes the target.
    bool two_texts() const { return architecture().encoder != nullptr; }
    /// Returns true if the second text has a field. Decoders alone are not trained on two texts, so theirs
    /// appears only with a second text that was given from outside.
    bool offers_pair() const {
        return !pair.empty() || (model->pairs.known && (model->masked() || two_texts()));
    }
};

/// The patch that stands in the part's run; null when none does, or no more.
const PatchedRun* patched_run(const ModelPart& part);
/// What is patched at a number around the attention of a layer; null for a number that the layer made itself.
const checkpoint::PatchedRows* patched_at(const ModelPart& part, std::int64_t n, const CellAddress& cell);

/// One attention of a checkpoint, by its number, as a document: `base` is the attention without edits, with x
/// as the layers before it give it; the part's edits of it are laid over it. Throws Error(input) when the
/// result is not valid.
DocumentPtr model_document(const ModelPartPtr& part, std::int64_t attention,
                           const std::shared_ptr<const Problem>& base, std::uint64_t revision);

/// A document of a checkpoint whose recipe changed in edits and gains of the open layer. `all_dropped`: those
/// of other layers go too. Throws Error(input) likewise.
DocumentPtr edit_model_document(const Document& document, project::Recipe recipe, bool all_dropped);

/// What the queries of a checkpoint's document are: the tokens of the encoder's text or of the other one.
const checkpoint::ModelInputs& read_by_queries(const Document& document);
/// A table of the stack that a checkpoint's document is of, with its edits: W_E, W_P, W_type or W_U.
checkpoint::EditedTable edited_table(const Document& document, TensorId table);
/// A document of a checkpoint in which rows of a table have other numbers; a row that has the checkpoint's
/// own ones is no edit any more.
DocumentPtr with_table_rows(const Document& document, TensorId table, const checkpoint::TableRows& rows);
/// A document of a checkpoint in whose open layer a number of mlp_act is not computed but given; nothing: it
/// is computed again.
DocumentPtr with_activation(const Document& document, const CellAddress& cell, std::optional<float> value);

/// Whether two problems of one attention read the same vectors.
bool same_vectors(const Problem& a, const Problem& b);

/// The number of the attention that a checkpoint's document is of.
std::int64_t open_attention(const Document& document);
/// "L5"; of an encoder-decoder "encoder L5", "decoder L5" or "cross L5".
std::string attention_name(const ModelPart& part, checkpoint::AttentionPlace place);

/// What edits change in a run's layers. Reads the weights of those layers: not for the UI thread.
std::map<std::int64_t, LayerMarks> marks_of(const checkpoint::ModelRun& run,
                                            const checkpoint::ModelEdits& edits);

/// The number of the first attention whose edits differ; nothing when none does.
std::optional<std::int64_t> first_difference(const checkpoint::ModelEdits& a,
                                             const checkpoint::ModelEdits& b);

/// "L5", "B5", "cross L5": how the open layer of a document with a board is called; and "L5 H1".
std::string open_layer_name(const Document& document);
std::string open_head_name(const Document& document, std::int64_t h);

} // namespace headscope::app
