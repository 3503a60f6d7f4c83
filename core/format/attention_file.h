#pragma once

#include "core/trace/attention_set.h"

#include <cstddef>
#include <string>

namespace headscope::format {

/// Bytes of float32 weights that an opened file keeps in memory.
inline constexpr std::size_t usual_kept_bytes = std::size_t{256} << 20U;

/// Opens a file with attention weights of any model: .npy, .npz, .safetensors, or the JSON of CircuitsVis
/// (read_circuitsvis). Its arrays are (H, Tq, Tk), or one such block per layer or per sequence, in float16,
/// bfloat16, float32 or float64. With (L, B, H, Tq, Tk), or (B, H, Tq, Tk) for each layer, the file holds B
/// texts, of which one is opened at a time; a file may also hold the three attentions of an encoder-decoder
/// (find_attention_tensors). Only headers are read now, except from JSON, and each array of a .npz file is
/// compared with its checksum when it is opened. Each layer is read on demand, and the most recent ones are
/// cached up to `kept_bytes` (always at least one).
///
/// Tokens come from the file's own note "tokens" (and "kv_tokens", or "encoder_tokens" and "decoder_tokens"):
/// an entry of the metadata of .safetensors, an array of texts in .npz, the list in JSON; else from
/// NAME.tokens.json next to the file. The first axis counts sequences if each sequence has a token list or
/// the file is a trace of a batch; otherwise it counts layers.
///
/// Throws Error(input) with one sentence if the file cannot be read or is truncated, contains pickled
/// objects, integers or no weights, or has another rank or an extent of 0.
AttentionOptionsPtr attention_options(const std::string& path, std::size_t kept_bytes = usual_kept_bytes);

/// Opens the chosen weights of a file. Throws Error(input) likewise, for tokens that do not match the
/// weights, and if the file leaves a choice that was not made; the sentence names the options --batch and
/// --stack.
AttentionSetPtr open_attention_file(const std::string& path, const AttentionChoice& choice,
                                    std::size_t kept_bytes = usual_kept_bytes);
/// The same for a file without a choice.
AttentionSetPtr open_attention_file(const std::string& path, std::size_t kept_bytes = usual_kept_bytes);

} // namespace headscope::format
