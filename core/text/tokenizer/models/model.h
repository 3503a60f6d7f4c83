#pragma once

#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/vocabulary.h"

#include <functional>

namespace headscope::text {

/// A token of a word and the bytes of the word that it covers.
struct WordToken {
    TokenId id = 0;
    ByteRange range;
    /// The token is displayed as these bytes of the word instead of the vocabulary's spelling.
    bool displays_word_text = false;
};

/// Appends the tokens of one word. Several threads may call one model at once.
using Model = std::function<void(std::string_view word, std::vector<WordToken>& out)>;

/// Reads the "vocab" of the "model" object: {"token": id}, or [["token", score], ...] with ids from 0 for
/// Unigram. Throws Error(input) for an unknown type or a malformed entry.
Vocabulary read_vocabulary(const JsonField& model);

/// Reads the rest of the "model" object. `vocabulary` is shared with the tokenizer. Throws Error(input) for
/// an unknown type or option.
Model read_model(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);

Model read_bpe(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);
Model read_word_piece(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);
/// The model throws Error(input) for a word with an unknown character if there is no unknown token.
Model read_unigram(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);

} // namespace headscope::text
