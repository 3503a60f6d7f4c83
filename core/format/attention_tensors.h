#pragma once

#include "core/format/arrays/named_arrays.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {

/// The arrays of a file that contain the weights of one attention.
struct AttentionTensors {
    std::vector<const TensorEntry*>
        entries;                       ///< one array with all layers, or one per layer; all of the same shape
    std::vector<std::int64_t> numbers; ///< layer numbers, ascending; empty for one array
    std::string name;                  ///< name of the single array, or "layers.{l}.weights"
    std::string part; ///< "encoder", "decoder" or "cross"; empty if the file has one attention
};

/// Selects the only float array of rank 3 or more; else the array with a usual name (attentions, attn,
/// weights, ...); else arrays whose names differ only in one number, such as layers.0.weights (written by
/// `headscope trace --model`), attentions.0, layer0 or arr_0. If the names of two or three such selections
/// begin with encoder, decoder and cross, as encoder_attentions or cross.layers.0.weights, returns these in
/// that order; otherwise one. Throws Error(input) with a list of the arrays if no rule applies, and for
/// layers of different shapes. `arrays` must outlive the result.
std::vector<AttentionTensors> find_attention_tensors(const NamedArrays& arrays);

} // namespace headscope::format
