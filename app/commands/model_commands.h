#pragma once

#include "app/commands/command.h"

namespace headscope::app {

/// Throws Error(input) for what cannot be done to a layer of a checkpoint: its weights, biases and gains can
/// be changed; x, the mask and the number of heads belong to the model.
void check_model_command(const Document& document, const Command& command);

// Numbers of a checkpoint that no recipe holds: rows of its tables, of which only the changed ones are
// copied, and activations that the user sets.

/// The document after a command that changes such a number; null for every other command. Throws Error(input)
/// with the sentence to show.
DocumentPtr change_in_model(const Document& document, const Command& command);

/// Throws Error(input) for a number that is not finite.
void check_number(const EditCell& edit);

} // namespace headscope::app
