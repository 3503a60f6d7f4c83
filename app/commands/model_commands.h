#pragma once

#include "app/commands/command.h"

namespace headscope::app {

/// Throws Error(input) for commands that do not apply to a layer of a checkpoint: weights, biases and head
/// gains can be changed; x, the mask and the number of heads are fixed by the model.
void check_model_command(const Document& document, const Command& command);

/// Returns true if the document's checkpoint has that head.
bool has_head(const Document& document, const SetHeadGain& command);

// Numbers of a checkpoint that are not part of the recipe: rows of its tables, of which only the changed ones
// are copied, activations set by the user, and gains of heads in other layers.

/// Returns the document after a command that changes such a number; null for every other command. Throws
/// Error(input) with a message for the user.
DocumentPtr change_in_model(const Document& document, const Command& command);

/// Throws Error(input) for a number that is not finite.
void check_number(const EditCell& edit);

} // namespace headscope::app
