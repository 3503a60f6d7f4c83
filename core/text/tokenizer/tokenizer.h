#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// The number of a token in a vocabulary, from 0.
using TokenId = std::int32_t;

/// A range of a text in Unicode code points, end excluded.
struct TextSpan {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// What a text becomes. The three lists have one entry for each token.
struct Encoding {
    std::vector<TokenId> ids;
    std::vector<std::string> tokens; ///< as the vocabulary spells them, for example "Ġcat"
    /// The characters of the text that a token came from; 0..0 for tokens that the post-processor put around
    /// it. Characters made of several tokens stand in each of them.
    std::vector<TextSpan> offsets;
};

/// A tokenizer as Hugging Face's `tokenizers` library defines it: added tokens, normalizer, pre-tokenizer,
/// model, post-processor, decoder. Immutable; may be used from several threads at once.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    /// The tokens of a UTF-8 text, with the special tokens that the post-processor adds. Every character
    /// counts, control characters and NUL too. Throws Error(input) for a text that is no UTF-8, is longer
    /// than 2^31 - 1 bytes, or costs a pattern of the tokenizer too much time.
    virtual Encoding encode(std::string_view text) const = 0;

    /// The text of some tokens; `skip_special` leaves out special tokens. Ids that have no token are left
    /// out, as models may have more rows than their tokenizer has tokens. Bytes that make no UTF-8 become
    /// U+FFFD.
    virtual std::string decode(std::span<const TokenId> ids, bool skip_special) const = 0;

    /// How many tokens there are, added ones included.
    virtual std::size_t vocabulary_size() const = 0;

    /// A token as the vocabulary spells it; empty for an id without a token. Lives as long as the tokenizer.
    virtual std::string_view token_text(TokenId id) const = 0;

protected:
    Tokenizer() = default;
};

/// Reads a tokenizer: a tokenizer.json; or a folder that holds one; or a folder with vocab.json and
/// merges.txt (the GPT-2 kind) or with vocab.txt (the BERT kind), whose options come from its
/// tokenizer_config.json. Throws Error(input) naming the file and the key for anything that is missing,
/// malformed or of a kind that is not known.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

/// The same from the text of a tokenizer.json; `name` stands for it in messages.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view json, const std::string& name);

} // namespace headscope::text
