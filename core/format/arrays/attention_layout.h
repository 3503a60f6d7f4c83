#pragma once

#include "core/format/arrays/named_arrays.h"
#include "core/format/attention_tensors.h"
#include "core/format/attention_tokens.h"
#include "core/trace/attention_set.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::format {

/// Where the weights of one attention of a file are.
struct AttentionLayout {
    AttentionTensors arrays;
    std::int64_t L = 1, H = 0, Tq = 0, Tk = 0;
    std::int64_t texts = 1; ///< extent of the batch axis between the layers and the heads
    bool is_batch = false;  ///< the first axis, L, counts sequences instead of layers

    /// The array with layer l of a text, and the number of the first of its H * Tq * Tk weights. With
    /// `rows`, the array `sink` next to it, and the first of its H * Tq numbers.
    std::pair<std::size_t, std::uint64_t> place(std::int64_t l, std::int64_t text, bool rows = false) const;
};

/// Infers the extents from the shape of the arrays. Throws Error(input) for a shape that cannot be attention
/// weights.
AttentionLayout attention_layout(const NamedArrays& file, AttentionTensors arrays);

/// The tokens of one attention as the file has them: one list, or one for each text or sequence.
AttentionTokens read_tokens(const NamedArrays& file, const AttentionLayout& layout);
/// Keeps the lists of one text if there is one for each. Throws Error(input) for another number of lists.
AttentionTokens tokens_of_text(AttentionTokens tokens, std::int64_t texts, std::int64_t text);
/// Throws Error(input) if lists of tokens or flags do not fit the weights.
void check_tokens(const AttentionTokens& tokens, const AttentionInfo& info);

/// The padding queries of one text according to the array `attention_mask` (of the decoder:
/// `decoder_attention_mask`): either a tokenizer's mask, 0 for padding, or numbers that are added to the
/// scores, negative for padding. Empty unless it has one number for each query.
std::vector<std::vector<bool>> read_padding(const NamedArrays& file, const AttentionLayout& layout,
                                            const AttentionInfo& info, std::int64_t text);

/// The arrays called `sink` next to the weights, which traces of models with sinks have: the sink's weight in
/// each row. Empty unless every layer has one with a matching shape.
std::vector<const TensorEntry*> find_sinks(const NamedArrays& file, const AttentionTensors& weights);

} // namespace headscope::format
