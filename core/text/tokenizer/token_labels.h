#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::text {

/// How to show a token's leading blank: "·cat" (dot) or "cat" (hidden).
enum class BlankMark : std::uint8_t { hidden, dot };

/// A readable label for each token. Letters that stand for bytes become the characters they spell, a line end
/// becomes "⏎", a tab "⇥", blanks alone "␣"; the "##" of word pieces and special tokens stay unchanged. When
/// one character was cut into several tokens, each token shows the character and its place: "é 1/2". Bytes
/// that form no character keep the vocabulary's spelling. An id without a token is "#" and its number.
std::vector<std::string> token_labels(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                                      BlankMark mark);

/// The same for one token on its own.
std::string token_label(const Tokenizer& tokenizer, TokenId id, BlankMark mark);

} // namespace headscope::text
