#pragma once

#include "core/text/tokenizer/normalizers/normalizer.h"
#include "core/text/tokenizer/vocabulary.h"

#include <array>
#include <unordered_set>

namespace headscope::text {

/// A token that is searched for in the text before the model runs.
struct AddedToken {
    TokenId id = 0;
    std::string content;
    bool special = false;     ///< omitted by decode(skip_special)
    bool single_word = false; ///< matches only if no word character is adjacent
    bool lstrip = false;      ///< includes the white space before it
    bool rstrip = false;      ///< includes the white space after it
    bool normalized = true;   ///< searched for in the normalized text
};

/// A part of a text; an id marks an added token.
struct TextPart {
    AlignedText text;
    std::optional<TokenId> id;
};

/// Finds a set of added tokens in a text: the leftmost match first, then the longest at that position.
class TokenFinder {
public:
    void add(std::string text, const AddedToken& token);
    /// Splits the whole text into parts, none of them empty.
    std::vector<TextPart> split(const AlignedText& text) const;

private:
    const AddedToken* longest_at(std::string_view text, std::size_t at, std::size_t& size) const;

    std::unordered_map<std::string_view, std::size_t> token_indices_; ///< index into tokens_ for each text
    std::vector<std::unique_ptr<const std::pair<std::string, AddedToken>>> tokens_;
    std::array<std::vector<std::size_t>, 256>
        lengths_; ///< for each byte: lengths of the tokens that begin with it, longest first
};

/// The "added_tokens" list of a tokenizer.
class AddedTokens {
public:
    /// Adds to `extra` the tokens that the model's vocabulary lacks.
    AddedTokens(const JsonField& list, const Vocabulary& of_model, Vocabulary& extra);

    /// Normalizes the tokens that are searched for in normalized text.
    void prepare(const Normalizer& normalizer);
    /// Splits the raw text at tokens, normalizes the parts between them and splits those parts again.
    std::vector<TextPart> split(const AlignedText& text, const Normalizer& normalizer) const;
    bool is_special(TokenId id) const { return special_.contains(id); }

private:
    std::vector<AddedToken> tokens_;
    std::unordered_set<TokenId> special_;
    TokenFinder raw_, normalized_;
};

} // namespace headscope::text
