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
};

/// As JSON text for the checkpoint's patch file; empty if the user chose nothing.
std::string questions_text(const ModelState& model, const RunSpec& part);
/// Nothing for empty text. Throws Error(input) for text of another format and for tokens that the model does
/// not have.
std::optional<Questions> read_questions(const std::string& text, std::int64_t vocab);

} // namespace headscope::app
