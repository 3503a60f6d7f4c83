#pragma once

#include "core/text/tokenizer/vocabulary.h"

#include <array>

namespace headscope::text {

/// The tokens <0x00> to <0xFF>, which represent characters that a vocabulary lacks byte by byte.
class ByteTokens {
public:
    /// Has no byte tokens.
    ByteTokens() = default;
    /// Has those byte tokens that the vocabulary contains.
    explicit ByteTokens(const Vocabulary& vocabulary);

    /// Returns true if every byte of the text has a token.
    bool covers(std::string_view text) const;
    /// The token of a byte that has one.
    TokenId token(char byte) const { return *tokens_[static_cast<unsigned char>(byte)]; }

private:
    std::array<std::optional<TokenId>, 256> tokens_;
};

} // namespace headscope::text
