#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// More layers in a file are taken for a mistake.
constexpr std::int64_t most_layers = 10'000;

/// Sizes of a model, and what its texts are like. How it computes is in its graph: see ModelStages and
/// TextGraph. Every size is at least 1 unless 0 is said to mean something. An encoder-decoder has one for
/// each of its two stacks of layers.
struct ModelConfig {
    std::string family; ///< model_type, for messages
    std::string dtype;  ///< as stored: "float32"; empty when it is not said
    /// The encoder's sizes, if this describes the decoder of an encoder-decoder; null in a model of one
    /// stack. Each layer of such a decoder has a cross-attention, which reads the encoder's output, between
    /// its self-attention and its MLP.
    std::shared_ptr<const ModelConfig> encoder;

    std::int64_t layers = 0;
    std::int64_t D = 0;
    std::int64_t H = 0;
    std::int64_t Hkv = 0;         ///< divides H
    std::int64_t dk = 0;          ///< width of a query or key head
    std::int64_t value_width = 0; ///< of a value head; 0: dk
    std::int64_t d_ff = 0;        ///< width inside the MLP, of layers with one MLP for all tokens
    std::int64_t vocab = 0;       ///< rows of the word table

    bool causal = false;
    std::vector<bool> delta_layers; ///< per layer whether it has a delta layer in place of attention; empty:
                                    ///< none has
    std::vector<std::int64_t> key_layers; ///< per layer the one whose input and weights make its keys and
                                          ///< values; empty: its own
    std::int64_t stream_copies = 1;       ///< of the residual stream
    std::int64_t active_copy = 0;         ///< the one that attention and MLP read
    std::int64_t layers_sharing = 1;      ///< layers after each other that have the same weights in the file
    bool tied = false;                    ///< the head multiplies by the word table
    bool reads_encoder_table = false;     ///< a decoder without a word table of its own

    std::int64_t max_positions = 0; ///< tokens that the model was made for
    std::int64_t longest_text = std::numeric_limits<std::int64_t>::max(); ///< tokens that have positions
    std::int64_t start_id = 0;            ///< of the token that a decoder's text begins with
    std::string mask_token;               ///< stands for a hidden word; empty: none
    std::vector<std::int64_t> end_tokens; ///< ids that end a text; empty: none is known

    std::int64_t dv() const { return value_width > 0 ? value_width : dk; }
    /// Returns true unless layer l has a delta layer in place of attention.
    bool has_attention(std::int64_t l) const {
        return delta_layers.empty() || !delta_layers[static_cast<std::size_t>(l)];
    }
    /// The layer whose input and weights make the keys and values of layer l; l itself in most models.
    std::int64_t key_layer(std::int64_t l) const {
        return key_layers.empty() ? l : key_layers[static_cast<std::size_t>(l)];
    }
};

} // namespace headscope::checkpoint
