#pragma once

#include "core/checkpoint/files/tensor_files.h"

#include <string>
#include <string_view>

namespace headscope::checkpoint {

// Llama and Mistral as their authors publish them: params.json with consolidated.safetensors or
// consolidated.00.pth. Rotary pairs are numbers 2c and 2c + 1 of a head in this layout.

/// Returns true for a folder with these files and no config.json.
bool is_consolidated(const std::string& folder);
/// Opens the tensors under the names that Hugging Face's class has for them. Throws Error(input) also if the
/// weights are split among several files.
TensorFiles open_consolidated(const std::string& folder);
/// The config.json that says what params.json and the shapes of those tensors say. `source`: the name of
/// params.json in messages. Throws Error(input) that names the key for what has no counterpart.
std::string config_of_params(std::string_view params, const std::string& source, const TensorFiles& tensors);

} // namespace headscope::checkpoint
