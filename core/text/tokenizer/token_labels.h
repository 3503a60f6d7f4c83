#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::text {

/// Display of a token's leading space: "·cat" (dot) or "cat" (hidden).
enum class SpaceMark : std::uint8_t { hidden, dot };

/// A readable label for each token. Byte-level characters are decoded, a line end becomes "⏎", a tab "⇥", a
/// token of spaces "␣"; the "##" of word pieces and special tokens stay unchanged. If one character was split
/// into several tokens, each token shows the character and its part: "é 1/2". Bytes that form no character
/// keep the vocabulary's spelling. An id without a token is "#" and the id.
std::vector<std::string> token_labels(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                                      SpaceMark mark);

/// Same for a single token.
std::string token_label(const Tokenizer& tokenizer, TokenId id, SpaceMark mark);

} // namespace headscope::text
