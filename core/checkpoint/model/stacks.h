#pragma once

#include "core/checkpoint/architecture/architecture.h"

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
std::int64_t attention_count(const Architecture& architecture);
/// The place is one of the model's.
std::int64_t attention_number(const Architecture& architecture, AttentionPlace place);
/// number: in [0, attention_count).
AttentionPlace attention_place(const Architecture& architecture, std::int64_t number);

/// Those of a model, in the order in which people name them.
std::span<const Stack> stacks_of(const Architecture& architecture);
/// Sizes and settings of a stack; the cross-attention has the decoder's.
const Architecture& in_stack(const Architecture& architecture, Stack stack);
/// "encoder", "decoder" or "cross"; empty in a model of one stack.
std::string stack_name(const Architecture& architecture, Stack stack);
/// Before the names of a stack's tensors in a file: "encoder.", or nothing in a model of one stack.
std::string stack_prefix(const Architecture& architecture, Stack stack);
/// Before the names of a layer's nodes: "layers.3.", of an encoder-decoder "cross.layers.3."; around the
/// layers that of the stack.
std::string layer_prefix(const Architecture& architecture, AttentionPlace place);
/// Returns true unless the layer has a delta layer in place of attention.
bool has_attention(const Architecture& architecture, AttentionPlace place);
/// Throws Error(input) with the layers that have attention unless this one has.
void require_attention(const Architecture& architecture, AttentionPlace place);
/// The attention whose input and weights make the keys and values of attention n; see
/// Architecture::key_layer.
std::int64_t key_attention(const Architecture& architecture, std::int64_t n);
/// The first layer of a stack that has attention, from `layer` on, or else the last one before it.
std::int64_t nearest_attention(const Architecture& architecture, AttentionPlace place);
/// For messages: "layer 3", "layer 3 of the encoder", "the cross-attention of layer 3".
std::string attention_words(const Architecture& architecture, AttentionPlace place);

} // namespace headscope::checkpoint
