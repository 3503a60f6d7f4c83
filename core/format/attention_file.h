#pragma once

#include "core/trace/attention_set.h"

#include <cstddef>
#include <string>

namespace headscope::format {

/// Opens a .npy or .safetensors file with attention weights of any model: (H, Tq, Tk), or one such block per
/// layer or per sequence; float16, bfloat16, float32 or float64. Extents of 1 in between are dropped, as in
/// (L, 1, H, Tq, Tk). Only the header is read now; each layer is read on demand, and the most recent ones are
/// cached up to `kept_bytes` (always at least one). Tokens come from the metadata entries "tokens" and
/// "kv_tokens" of a .safetensors file, or from NAME.tokens.json next to the file. The first axis counts
/// sequences if each sequence has a token list or the file is a trace of a batch; otherwise it counts layers.
///
/// Throws Error(input) with one sentence if the file cannot be read or is truncated, contains pickled
/// objects, integers or no weights, has another rank or an extent of 0, or has tokens that do not match.
AttentionSetPtr open_attention_file(const std::string& path,
                                    std::size_t kept_bytes = std::size_t{256} << 20U);

} // namespace headscope::format
