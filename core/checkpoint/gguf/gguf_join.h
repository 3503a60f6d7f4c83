#pragma once

#include "core/checkpoint/files/tensor_files.h"

namespace headscope::checkpoint {

/// Brings tensors of a GGUF file into the shapes that Hugging Face's families have: the two parts of
/// DeepSeek's kv_b_proj, and the row of numbers that gates an expert for all tokens.
void join_gguf(TensorFiles& files);

} // namespace headscope::checkpoint
