#pragma once

#include <string>
#include <vector>

namespace headscope::text {

/// Converts tokens from the vocabulary's spelling into readable text. Byte-level characters (GPT-2's "Ġcat")
/// and SentencePiece's "▁cat" are decoded, a line end becomes "⏎", a token of spaces only becomes "␣"; the
/// space before a word is dropped. Byte-level characters are decoded only if the whole list consists of them.
std::vector<std::string> readable_tokens(std::vector<std::string> tokens);

} // namespace headscope::text
