#pragma once

#include "core/text/tokenizer/json_field.h"
#include "core/text/tokenizer/text_index.h"
#include "core/text/tokenizer/tokenizer.h"

#include <deque>
#include <optional>
#include <unordered_map>

namespace headscope::text {

/// Maps tokens between text and id. Immutable once it is shared.
class Vocabulary {
public:
    Vocabulary() = default;
    Vocabulary(Vocabulary&&) = default;
    Vocabulary& operator=(Vocabulary&&) = default;

    /// Reads an object {"token": id}. Throws Error(input) for an id that is not an integer in [0, 2^31 - 1].
    static Vocabulary read(const JsonField& field);
    /// Reads a list of ["token", score]; the id of a token is its index, or its last index if it occurs
    /// twice. Throws Error(input) for any other entry.
    static Vocabulary read_pieces(const JsonField& field);

    /// Reserves memory for that many tokens.
    void reserve(std::size_t tokens);
    /// Adds a token. If the id already has a text, text(id) returns the new one from then on.
    void add(std::string text, TokenId id);

    std::optional<TokenId> find(std::string_view text) const;
    /// Empty for an id without a token.
    std::string_view text(TokenId id) const;
    /// Returns true if no text was added twice.
    bool is_distinct() const { return tokens_.size() == size_; }
    /// The number of tokens, read or added.
    std::size_t size() const { return size_; }
    /// The length of the longest text in bytes.
    std::size_t longest() const { return longest_; }

private:
    struct Token {
        std::string text;
        TokenId id = 0;
    };
    std::deque<Token> tokens_;            ///< each text once
    TextIndex index_;                     ///< the place in tokens_ of each text
    std::vector<std::string_view> texts_; ///< by id, views of tokens_
    std::unordered_map<TokenId, std::string_view>
        far_texts_; ///< of ids much larger than the number of tokens
    std::size_t reserved_ = 0;
    std::size_t size_ = 0;
    std::size_t longest_ = 0;
};

} // namespace headscope::text
