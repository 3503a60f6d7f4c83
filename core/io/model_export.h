#pragma once

#include "core/checkpoint/forward.h"
#include "core/io/trace_export.h"

#include <string>

namespace headscope {

/// A pass through a model as the bytes of a safetensors file: layers.{l}.{stage} for the stages and layers
/// that the pass kept (cut to wanted.head), hidden.{0..L} (B,T,D), logits (B,T,vocab), input_ids,
/// attention_mask and token_type_ids (I64) as they were given; metadata tokens, config, device, model and
/// fully_masked_rows ("l": [[b, i], ...], layers that have some) as JSON text. Throws Error(input) for a head
/// out of range.
std::string model_trace_bytes(const Model& model, const ModelInputs& inputs, const ForwardResult& result,
                              const TraceExport& wanted);

} // namespace headscope
