#pragma once

#include "core/trace/attention_set.h"

#include <cstddef>
#include <string>

namespace headscope::format {

/// Opens a .npy or .safetensors file that holds attention weights of any model: (H, Tq, Tk), or one such
/// block per layer or sequence; float16, bfloat16, float32 or float64; extents of 1 between are dropped, as
/// in (L, 1, H, Tq, Tk). Only the header is read, and later one layer at a time, of which the last ones are
/// kept up to `kept_bytes` (always one). Tokens are taken from the metadata entry "tokens" (and "kv_tokens")
/// of a .safetensors file, or from NAME.tokens.json beside it. The first axis counts sequences when there is
/// a list of tokens for each, or in a trace of a batch, else layers.
///
/// Throws Error(input) with one sentence: the file cannot be read or is cut short, holds pickled objects,
/// integers or no weights, has another rank, an extent of 0, or tokens that do not fit.
AttentionSetPtr open_attention_file(const std::string& path,
                                    std::size_t kept_bytes = std::size_t{256} << 20U);

} // namespace headscope::format
