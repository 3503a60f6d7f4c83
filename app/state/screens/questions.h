#pragma once

#include "app/state/model_document.h"
#include "app/state/model_state.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::app {

/// The user's questions about a checkpoint's predictions.
struct Questions {
    std::string prompt, pair, target; ///< the text that the questions refer to; empty: not known
    std::optional<std::int64_t> position;
    EffectsQuestion effects;
    PatchingQuestion patching;
    CircuitsQuestion circuits;
    bool one_text = false; ///< the prompt stays one text in spite of its separator
};

/// As JSON text for the checkpoint's patch file; empty if the user chose nothing.
std::string questions_text(const ModelState& model, const RunSpec& part);
/// Nothing for empty text. Throws Error(input) for text of another format and for tokens that the model does
/// not have.
std::optional<Questions> read_questions(const std::string& text, std::int64_t vocab);
/// Restores all questions. The texts that they refer to must be in the model already.
void restore_questions(ModelState& model, const Questions& asked);

} // namespace headscope::app
