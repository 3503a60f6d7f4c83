#pragma once

#include "app/state/document.h"
#include "app/state/head_edits.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// What decides the numbers of a pass through a checkpoint. Small: weights stay in the file but for what was
/// changed. Immutable; compared by identity.
struct ModelPart {
    checkpoint::TextModelPtr model;
    std::string prompt;                                    ///< as it was typed, and what was written
    std::shared_ptr<const checkpoint::ModelInputs> inputs; ///< its tokens
    std::int64_t written = 0;     ///< how many of them, the last, were taken from predictions and not typed
    checkpoint::ModelEdits edits; ///< of all layers
    std::map<std::int64_t, LayerMarks> marks; ///< what they change, by layer
};

/// One layer of a checkpoint as a document: `base` is its attention without edits, with x as the layers
/// before it give it; the part's edits of that layer are laid over it. Throws Error(input) when the result is
/// not valid.
DocumentPtr model_document(const ModelPartPtr& part, std::int64_t layer,
                           const std::shared_ptr<const Problem>& base, std::uint64_t revision);

/// A document of a checkpoint whose recipe changed in edits and gains of the open layer. `all_dropped`: those
/// of other layers go too. Throws Error(input) likewise.
DocumentPtr edit_model_document(const Document& document, project::Recipe recipe, bool all_dropped);

/// What edits change in a run's layers. Reads the weights of those layers: not for the UI thread.
std::map<std::int64_t, LayerMarks> marks_of(const checkpoint::ModelRun& run,
                                            const checkpoint::ModelEdits& edits);

/// The first layer whose edits differ; nothing when none does.
std::optional<std::int64_t> first_difference(const checkpoint::ModelEdits& a,
                                             const checkpoint::ModelEdits& b);

/// "L5", "B5": how the open layer of a document with a board is called; and "L5 H1".
std::string open_layer_name(const Document& document);
std::string open_head_name(const Document& document, std::int64_t h);

} // namespace headscope::app
