#pragma once

#include "core/format/safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {

/// Which tensors of a .safetensors file are taken for attention weights.
struct AttentionTensors {
    std::vector<const SafetensorsEntry*> entries; ///< one that holds all, or one per layer; of one shape
    std::vector<std::int64_t> numbers;            ///< of the layers, ascending; empty for one tensor
    std::string name;                             ///< of the one, or "layers.{l}.weights"
};

/// The only float tensor of rank 3 or more; else the one with a usual name (attentions, attn, weights, ...);
/// else the ones whose names differ by a number alone, such as layers.0.weights (what `headscope trace
/// --model` writes) or attentions.0. Throws Error(input) that lists the tensors when none of that singles
/// some out, and for layers of different shapes. `file` must outlive what is returned.
AttentionTensors find_attention_tensors(const Safetensors& file);

} // namespace headscope::format
