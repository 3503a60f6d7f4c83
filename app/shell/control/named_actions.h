#pragma once

#include "app/commands/actions.h"
#include "app/views/state.h"

#include <string>

namespace headscope::app {

/// Returns true if an action can be used by name in the script of a film: not one of files and not a gesture.
bool can_name(const ActionInfo& action);
/// Returns true if an action can be used by name through the socket: not one that only opens a dialog for a
/// path, and not a gesture.
bool can_request(const ActionInfo& action);

/// Returns the messages that an action of the table sends on the current view. Throws Error(input) with the
/// reason if it is not available there.
Actions named_action(const AppState& state, const std::string& id);
/// Goes to a stage, by its name on the strip or in `headscope trace`. Throws Error(input) with the list of
/// stages.
Actions go_to_stage(const AppState& state, const std::string& name);
/// Sets the sentence or, for a checkpoint, the prompt.
Actions type_sentence(const AppState& state, const std::string& text);
/// Sets the second of two texts. Throws Error(input) if the document does not accept one.
Actions type_pair(const AppState& state, const std::string& text);
/// The answer "ID = ANSWER" to a question of the open step. Throws Error(input) for a text without "=".
Actions answer_question(const std::string& value);

} // namespace headscope::app
