#pragma once

#include "core/checkpoint/gguf/gguf_file.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headscope::checkpoint {

/// The config.json that says of a model what the file's metadata and tensors say. Throws Error(input) like
/// read_gguf_architecture.
nlohmann::json gguf_config(const GgufFile& file);

/// "llama, qwen2, ...": the values of general.architecture that are read.
std::string gguf_architecture_names();

} // namespace headscope::checkpoint
