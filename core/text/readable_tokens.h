#pragma once

#include <string>
#include <vector>

namespace headscope::text {

/// Tokens as vocabularies spell them, to be read by people: byte-level letters (GPT-2's "Ġcat") and
/// SentencePiece's "▁cat" become characters, a line end "⏎", blanks alone "␣"; a blank before a word is left
/// out. Byte-level letters are taken as such only when the whole list is made of them.
std::vector<std::string> readable_tokens(std::vector<std::string> tokens);

} // namespace headscope::text
