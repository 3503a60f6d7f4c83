#pragma once

#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/sentencepiece/model_file.h"
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

/// The pieces of a unigram model.
struct UnigramPieces {
    std::vector<double> scores; ///< of each id
    /// The type of each id: SentencePiece's own rules. Empty: those of Hugging Face's library, for which all
    /// pieces are equal.
    std::vector<PieceType> types;
    std::optional<TokenId> unknown;
    bool byte_fallback = false;
};
/// The model throws Error(input) for a word with an unknown character if there is no unknown token.
Model unigram_model(UnigramPieces pieces, std::shared_ptr<const Vocabulary> vocabulary);

/// Two adjacent tokens and the token that they become.
struct TokenMerge {
    TokenId left = 0, right = 0, both = 0;
};
/// A byte-pair encoding. Byte tokens represent a character without a token if the vocabulary has them all.
struct BpeMerges {
    std::vector<TokenMerge> merges; ///< the first is made first
    std::optional<TokenId> unknown;
    bool fuses_unknown = false; ///< adjacent unknown characters are one token
    bool byte_fallback = false;
};
Model bpe_model(const BpeMerges& merges, std::shared_ptr<const Vocabulary> vocabulary);

Model read_bpe(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);
Model read_word_piece(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);
/// The model throws Error(input) for a word with an unknown character if there is no unknown token.
Model read_unigram(const JsonField& field, std::shared_ptr<const Vocabulary> vocabulary);

} // namespace headscope::text
