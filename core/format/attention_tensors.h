#pragma once

#include "core/format/safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {

/// The tensors of a .safetensors file that contain the attention weights.
struct AttentionTensors {
    std::vector<const SafetensorsEntry*>
        entries; ///< one tensor with all layers, or one per layer; all of the same shape
    std::vector<std::int64_t> numbers; ///< layer numbers, ascending; empty for one tensor
    std::string name;                  ///< name of the single tensor, or "layers.{l}.weights"
};

/// Selects the only float tensor of rank 3 or more; else the tensor with a usual name (attentions, attn,
/// weights, ...); else tensors whose names differ only in one number, such as layers.0.weights (written by
/// `headscope trace --model`) or attentions.0. Throws Error(input) with a list of the tensors if no rule
/// applies, and for layers of different shapes. `file` must outlive the result.
AttentionTensors find_attention_tensors(const Safetensors& file);

} // namespace headscope::format
