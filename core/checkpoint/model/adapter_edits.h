#pragma once

#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/text_model.h"

#include <string>

namespace headscope::checkpoint {

/// A checkpoint as the window shows it.
struct EditedCheckpoint {
    TextModelPtr text;
    ModelEdits edits = {};
    std::string note = {}; ///< a sentence about the adapter; empty: there is none
};

/// Opens a checkpoint that can be run; of a LoRA adapter, its base, with the adapter's changes as edits. An
/// adapter that changes weights which cannot be edited, or more of them than fit into a third of the free
/// memory, is opened as one model without edits, and the note says so. Throws like open_text_model.
EditedCheckpoint open_edited(const std::string& path);

/// The edits that make `base` compute what `adapted` does, a model with the same architecture whose tensors
/// `adapted.adapted()->changed` differ. Nothing if a changed weight cannot be edited.
std::optional<ModelEdits> edits_of_adapter(const Model& base, const Model& adapted);

} // namespace headscope::checkpoint
