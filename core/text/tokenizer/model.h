#pragma once

#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/vocabulary.h"

#include <functional>

namespace headscope::text {

/// A token of a word and the bytes of the word that it covers.
struct WordToken {
    TokenId id = 0;
    ByteRange range;
};

/// Appends the tokens of one word. Several threads may call one model at once.
using Model = std::function<void(std::string_view word, std::vector<WordToken>& out)>;

/// Reads the "model" object, whose "vocab" has been read already. `vocabulary` is shared with the tokenizer.
/// Throws Error(input) for an unknown type or option.
Model read_model(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);

Model read_bpe(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);
Model read_word_piece(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);

} // namespace headscope::text
