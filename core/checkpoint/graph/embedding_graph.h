#pragma once

#include "core/checkpoint/graph/stack_text.h"

namespace headscope::checkpoint {

/// The first nodes of a stack.
struct Embedding {
    graph::Value stream; ///< (B, Tq, D): the input of the first layer
    graph::Value word_table;
};
/// Adds the embeddings of tokens, token types and positions, their sum and its norm, as far as the model has
/// them. `encoder_table`: the word table that a decoder without a table of its own reads.
Embedding add_embedding(graph::Builder& g, LeafBuilder& leaves, const StackText& text,
                        const graph::OptionalValue& encoder_table);

} // namespace headscope::checkpoint
