#pragma once

#include "app/commands/command.h"

namespace headscope::app {

/// Throws Error(input) for what cannot be done to a layer of a checkpoint: its weights, biases and gains can
/// be changed; x, the mask and the number of heads belong to the model.
void check_model_command(const Document& document, const Command& command);

} // namespace headscope::app
