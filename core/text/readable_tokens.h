#pragma once

#include <string>
#include <vector>

namespace headscope::text {

/// Turns tokens from the vocabulary's spelling into text for people. Byte-level letters (GPT-2's "Ġcat") and
/// SentencePiece's "▁cat" become characters, a line end becomes "⏎", a token of blanks alone "␣"; the blank
/// before a word is dropped. Byte-level letters are decoded only when the whole list consists of them.
std::vector<std::string> readable_tokens(std::vector<std::string> tokens);

} // namespace headscope::text
