#pragma once

#include "core/checkpoint/model/model_config.h"

#include <cstdint>
#include <span>
#include <string>

namespace headscope::checkpoint {

/// A part of a model whose layers have one kind of attention.
enum class Stack : std::uint8_t {
    own, ///< all of a model of one stack; of an encoder-decoder the decoder with its self-attention
    encoder,
    cross ///< the decoder's layers with their cross-attention
};

/// An attention of a model.
struct AttentionPlace {
    Stack stack = Stack::own;
    std::int64_t layer = 0; ///< of the stack; -1: what stands around its layers
    bool operator==(const AttentionPlace&) const = default;
};

// The attentions of a model have numbers, in the order in which they run: the layers of the encoder, then of
// each layer of the decoder its self-attention and its cross-attention. In a model of one stack the number is
// the layer.
std::int64_t attention_count(const ModelConfig& config);
/// The place is one of the model's.
std::int64_t attention_number(const ModelConfig& config, AttentionPlace place);
/// number: in [0, attention_count).
AttentionPlace attention_place(const ModelConfig& config, std::int64_t number);

/// Those of a model, in the order in which people name them.
std::span<const Stack> stacks_of(const ModelConfig& config);
/// Sizes of a stack; the cross-attention has the decoder's.
const ModelConfig& in_stack(const ModelConfig& config, Stack stack);
/// "encoder", "decoder" or "cross"; empty in a model of one stack.
std::string stack_name(const ModelConfig& config, Stack stack);
/// Before the names of a stack's tensors in a file: "encoder.", or nothing in a model of one stack.
std::string stack_prefix(const ModelConfig& config, Stack stack);
/// Before the names of a layer's nodes: "layers.3.", of an encoder-decoder "cross.layers.3."; around the
/// layers that of the stack.
std::string layer_prefix(const ModelConfig& config, AttentionPlace place);
/// Returns true unless the layer has a delta layer in place of attention.
bool has_attention(const ModelConfig& config, AttentionPlace place);
/// Throws Error(input) with the layers that have attention unless this one has.
void require_attention(const ModelConfig& config, AttentionPlace place);
/// The attention whose input and weights make the keys and values of attention n; see
/// ModelConfig::key_layer.
std::int64_t key_attention(const ModelConfig& config, std::int64_t n);
/// The first layer of a stack that has attention, from `layer` on, or else the last one before it.
std::int64_t nearest_attention(const ModelConfig& config, AttentionPlace place);
/// For messages: "layer 3", "layer 3 of the encoder", "the cross-attention of layer 3".
std::string attention_words(const ModelConfig& config, AttentionPlace place);

} // namespace headscope::checkpoint
