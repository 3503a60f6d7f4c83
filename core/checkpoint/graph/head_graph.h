#pragma once

#include "core/checkpoint/graph/stack_text.h"

namespace headscope::checkpoint {

/// Adds the language-model head: logits and probabilities from the hidden states after the final norm.
/// `word_table`: that of the stack, which a tied head multiplies by.
void add_head(const graph::Builder& root, LeafBuilder& leaves, const StackText& text,
              const graph::Value& hidden, const graph::Value& word_table);

} // namespace headscope::checkpoint
