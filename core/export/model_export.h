#pragma once

#include "core/checkpoint/run/forward.h"
#include "core/export/trace_export.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::exporting {

/// Throws Error(input) when `path` cannot hold what is wanted: a .npy file or "-" as npy.
void check_model_target(const TraceExport& wanted, const std::string& path);

/// Writes a pass through a model to a file, whole or not at all ("-": standard output), in the formats of
/// trace_bytes: layers.{l}.{stage} for the stages and layers that the pass kept (cut to wanted.head), those
/// of block_table(), hidden.{0..L} (B,T,D), logits (B,T,vocab). Of an encoder-decoder the names of what
/// belongs to a stack begin with encoder., decoder. or cross.; the metadata has decoder_tokens as well. Where
/// one stack alone was kept, tokens are its queries' and, in cross-attention, kv_tokens its keys'.
/// wanted.nodes are written as layers.{l}.{name} or by their name outside of the layers.
/// safetensors adds input_ids, attention_mask and token_type_ids (I64) as they were given, and metadata
/// tokens, config, model, device and fully_masked_rows ("l": [[b, i], ...], layers that have some) as JSON
/// text; json has all of these as members beside "stages"; csv and tsv hold the tensors alone. npy makes
/// `path` a folder that holds NAME.npy for each tensor and trace.json with the members that json has beside
/// "stages". Logits, and the stages of kept_stages() in layers with a problem, are made while the file is
/// written where the pass lacks them. Throws Error(input) for a head out of range, and Error(cancelled) once
/// `cancel` is. Returns the position of the first token whose logits are not all finite; they are written as
/// they are.
std::optional<std::int64_t> export_model_trace(const checkpoint::Model& model,
                                               const checkpoint::ModelInputs& inputs,
                                               const checkpoint::ForwardResult& result,
                                               const TraceExport& wanted, const std::string& path,
                                               const Progress& cancel = Progress());

} // namespace headscope::exporting
