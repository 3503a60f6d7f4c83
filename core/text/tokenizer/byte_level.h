#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headscope::text {

// GPT-2's way to write any bytes as visible characters (bytes_to_unicode in OpenAI's encoder.py): printable
// Latin-1 stands for itself, the other bytes for U+0100 and on.

/// The UTF-8 of the character that stands for a byte.
std::string_view letter_of_byte(unsigned char byte);
/// The bytes that a text of such characters stands for; nothing when another character is among them.
std::optional<std::string> bytes_of_letters(std::string_view utf8);

} // namespace headscope::text
