#pragma once

#include "core/text/tokenizer/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::text {

/// Whether a blank that a token begins with is seen: "·cat", or "cat".
enum class BlankMark : std::uint8_t { hidden, dot };

/// Each token as people read it. Letters that stand for bytes become the characters they spell, a line end is
/// written "⏎", a tab "⇥", blanks alone "␣"; "##" of word pieces and special tokens stay as they are. Where
/// one character was cut into several tokens each of them has it, with its place: "é 1/2". Bytes that make no
/// character with their neighbours keep the vocabulary's spelling; an id without a token is "#" and its
/// number.
std::vector<std::string> token_labels(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                                      BlankMark mark);

/// The same for one token on its own.
std::string token_label(const Tokenizer& tokenizer, TokenId id, BlankMark mark);

} // namespace headscope::text
