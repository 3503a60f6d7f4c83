#pragma once

#include "core/checkpoint/files/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::checkpoint {

/// A batch of token ids. All vectors row by row, (B, T).
struct ModelInputs {
    std::int64_t B = 1;
    std::int64_t T = 0;
    std::vector<std::int64_t> ids;
    std::vector<std::uint8_t> attention_mask; ///< 1 = a real token, 0 = padding at either end; empty: all 1
    std::vector<std::int64_t> token_types;    ///< families with a token type table; empty: all 0.
                                              ///< GPT-2 adds these rows of its word embedding; empty: none
    std::vector<std::string> tokens;          ///< B T labels, or empty
    bool operator==(const ModelInputs&) const = default;
};

/// Reads input_ids (T) or (B, T), and attention_mask and token_type_ids of the same shape where the file has
/// them. Throws Error(input) naming the tensor.
ModelInputs read_model_inputs(const format::Safetensors& file);

/// Throws Error(input) naming the tensor and the entry: counts against B T, ids outside the vocabulary, token
/// types that the model does not have.
void check_inputs(const ModelInputs& inputs, const ModelConfig& config);

/// The row of the position table for each token, (B, T): 0 .. T-1, whatever the padding; RoBERTa counts the
/// tokens other than pad_id from pad_id + 1 and gives pad_id to those. Throws Error(input) when the table is
/// too short.
std::vector<std::int64_t> learned_positions(const ModelInputs& inputs, const ModelConfig& config);

} // namespace headscope::checkpoint
