#pragma once

#include "core/checkpoint/model/model_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::checkpoint {

struct Architecture;
class Model;

/// A batch of token ids. All vectors row by row, (B, T).
struct ModelInputs {
    std::int64_t B = 1;
    std::int64_t T = 0;
    std::vector<std::int64_t> ids;
    std::vector<std::uint8_t> attention_mask; ///< 1 = a real token, 0 = padding at either end; empty: all 1
    std::vector<std::int64_t> token_types;    ///< rows of the token type table; empty: all 0. With
                                              ///< word_token_types rows of the word table; empty: none
    std::vector<std::string> tokens;          ///< B T labels, or empty
    std::vector<ModelInputs> source; ///< of an encoder-decoder one: what its encoder reads. The rest is then
                                     ///< what its decoder reads, from the start token on
    /// The type of token i of the first text.
    std::int64_t token_type(std::int64_t i) const {
        return token_types.empty() ? 0 : token_types[static_cast<std::size_t>(i)];
    }
    bool operator==(const ModelInputs&) const = default;
};

/// Reads input_ids (T) or (B, T), and attention_mask and token_type_ids of the same shape where the file has
/// them. Where it has decoder_input_ids, those and decoder_attention_mask are read as well, and input_ids is
/// the source. Throws Error(input) naming the tensor.
ModelInputs read_model_inputs(const format::Safetensors& file);

/// Throws Error(input) naming the tensor and the entry: counts against B T, ids outside the vocabulary, token
/// types that the model does not have.
void check_inputs(const ModelInputs& inputs, const Architecture& architecture);
void check_inputs(const ModelInputs& inputs, const Model& model);

/// What a decoder reads of a text that goes on: the start token, then the text without the token that ends
/// it.
std::vector<std::int64_t> decoder_ids(const ModelConfig& config, std::vector<std::int64_t> text);

/// The row of the position table for each token, (B, T), as position_count says. Throws Error(input) when the
/// table is too short.
std::vector<std::int64_t> learned_positions(const ModelInputs& inputs, const Architecture& architecture);
/// Same; `stack`: Model::encoder() for the texts of an encoder.
std::vector<std::int64_t> learned_positions(const ModelInputs& inputs, const Model& stack);

/// The row of the table of the embeddings that layers have of their own, for each token, (B, T).
std::vector<std::int64_t> layer_embedding_rows(const ModelInputs& inputs, const Architecture& architecture);
std::vector<std::int64_t> layer_embedding_rows(const ModelInputs& inputs, const Model& model);

} // namespace headscope::checkpoint
