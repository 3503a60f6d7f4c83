#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/gguf/gguf_file.h"

namespace headscope::checkpoint {

/// Gives the tensors of an architecture their names and layouts in a GGUF file, by which tensors the file
/// has. What the format has no tensor for keeps its name of Hugging Face, and so is missing.
void take_gguf_names(const GgufFile& file, Architecture& architecture);

} // namespace headscope::checkpoint
