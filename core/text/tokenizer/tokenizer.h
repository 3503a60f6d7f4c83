#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// The maximum size of a text in bytes: its tokens may take 150 times as much memory.
inline constexpr std::size_t most_text_bytes = std::size_t{4} << 20U;

/// The id of a token in a vocabulary, from 0.
using TokenId = std::int32_t;

/// A range of a text in Unicode code points, end excluded.
struct TextSpan {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// The result of encoding one text or two. The four lists have one entry for each token.
struct Encoding {
    std::vector<TokenId> ids;
    std::vector<std::string> tokens; ///< in the vocabulary's spelling, for example "Ġcat"
    /// The characters of its text that a token came from; 0..0 for a token that the post-processor added. A
    /// character split into several tokens is in the range of each.
    std::vector<TextSpan> offsets;
    /// The index of the text that a token belongs to, 0 or 1, as the post-processor assigns it.
    std::vector<std::int32_t> types;
};

/// A tokenizer as Hugging Face's `tokenizers` library defines it: added tokens, normalizer, pre-tokenizer,
/// model, post-processor, decoder. Immutable; may be used from several threads at once.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    /// The tokens of a UTF-8 text, with the special tokens that the post-processor adds. Every character
    /// counts, including control characters and NUL. Throws Error(input) if the text is not UTF-8, is longer
    /// than most_text_bytes, or takes a pattern of the tokenizer too many steps.
    virtual Encoding encode(std::string_view text) const = 0;

    /// The tokens of a text for the decoder of an encoder-decoder model. They differ from those of encode if
    /// the two languages have different pieces. Throws the same.
    virtual Encoding encode_target(std::string_view text) const { return encode(text); }

    /// The tokens of two texts in the post-processor's format for pairs. Throws the same.
    virtual Encoding encode_pair(std::string_view first, std::string_view second) const = 0;

    /// The token that the post-processor inserts between two texts; nothing if it inserts none.
    virtual std::optional<TokenId> separator() const = 0;

    /// The text of the tokens; `skip_special` omits special tokens. Ids without a token are omitted, because
    /// a model may have more rows than its tokenizer has tokens. Invalid UTF-8 becomes U+FFFD.
    virtual std::string decode(std::span<const TokenId> ids, bool skip_special) const = 0;

    /// The number of tokens, including added tokens.
    virtual std::size_t vocabulary_size() const = 0;

    /// A token in the vocabulary's spelling; empty for an id without a token. Valid as long as the tokenizer
    /// exists.
    virtual std::string_view token_text(TokenId id) const = 0;

protected:
    Tokenizer() = default;
};

/// Loads a tokenizer: a tokenizer.json; a SentencePiece model; a folder that contains a tokenizer.json; or a
/// folder with vocab.json and merges.txt (the GPT-2 kind), vocab.txt (the BERT kind), a SentencePiece model
/// (the kinds of SentencePieceClass) or source.spm, target.spm and vocab.json (the Marian kind), with options
/// from its tokenizer_config.json. A SentencePiece model without a named kind has SentencePiece's own ids.
/// Throws Error(input) with the file and the key for a missing or malformed value or an unknown type.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

/// Same from the text of a tokenizer.json; messages call it `name`.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view json, const std::string& name);

} // namespace headscope::text
