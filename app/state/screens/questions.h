#pragma once

#include "app/state/model_state.h"

#include <string>

namespace headscope::app {

/// What was asked of a checkpoint's predictions - tokens, prompts, positions - as JSON text for its patch
/// file; empty when nothing was chosen.
std::string questions_text(const ModelState& model);
/// Asks the same again. Throws Error(input) for text of another form and for tokens that the model does not
/// have.
void take_questions(ModelState& model, const std::string& text, std::int64_t vocab);

} // namespace headscope::app
