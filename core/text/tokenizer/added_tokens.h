#pragma once

#include "core/text/tokenizer/normalizer.h"
#include "core/text/tokenizer/vocabulary.h"

#include <array>
#include <unordered_set>

namespace headscope::text {

/// A token that is found in the text itself, before the model sees it.
struct AddedToken {
    TokenId id = 0;
    std::string content;
    bool special = false;     ///< left out by decode(skip_special)
    bool single_word = false; ///< only where no word letter touches it
    bool lstrip = false;      ///< takes the white space before it
    bool rstrip = false;      ///< takes the white space after it
    bool normalized = true;   ///< sought in the normalized text
};

/// A part of a text; with an id where it is an added token.
struct TextPart {
    AlignedText text;
    std::optional<TokenId> id;
};

/// Finds a set of added tokens: the leftmost first, of those that begin there the longest.
class TokenFinder {
public:
    void add(std::string text, const AddedToken& token);
    /// The whole text in parts, none of them empty.
    std::vector<TextPart> cut(const AlignedText& text) const;

private:
    const AddedToken* longest_at(std::string_view text, std::size_t at, std::size_t& size) const;

    std::unordered_map<std::string_view, std::size_t> places_; ///< in tokens_, by text
    std::vector<std::unique_ptr<const std::pair<std::string, AddedToken>>> tokens_;
    std::array<std::vector<std::size_t>, 256>
        lengths_; ///< of the tokens that begin with a byte, longest first
};

/// The "added_tokens" of a tokenizer.
class AddedTokens {
public:
    /// Enters the tokens that the model's vocabulary lacks into `extra`.
    AddedTokens(const JsonField& list, const Vocabulary& of_model, Vocabulary& extra);

    /// Learns how the normalizer spells the tokens that are sought in normalized text.
    void prepare(const Normalizer& normalizer);
    /// Cuts the raw text at tokens, normalizes what is between them and cuts that.
    std::vector<TextPart> cut(const AlignedText& text, const Normalizer& normalizer) const;
    bool is_special(TokenId id) const { return special_.contains(id); }

private:
    std::vector<AddedToken> tokens_;
    std::unordered_set<TokenId> special_;
    TokenFinder raw_, normalized_;
};

} // namespace headscope::text
