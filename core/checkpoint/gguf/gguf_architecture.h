#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/gguf/gguf_file.h"

namespace headscope::checkpoint {

/// What the metadata of a GGUF file say of the model, with the tensors' names in the file. The keys are
/// turned into the config.json that the family's own reader takes, so that every family's rules stand in one
/// place. Keys and conventions are those of llama.cpp's converter: llama keeps pairs of rotary numbers side
/// by side, gptneox keeps queries, keys and values side by side, gemma's norms have their 1 added already.
/// Throws Error(input) naming what is missing, of a wrong kind, or decides the numbers and is not known here.
Architecture read_gguf_architecture(const GgufFile& file);

} // namespace headscope::checkpoint
