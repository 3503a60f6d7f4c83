#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headscope::text {

// GPT-2's mapping from bytes to visible characters (bytes_to_unicode in OpenAI's encoder.py): printable
// Latin-1 bytes map to themselves, the other bytes to U+0100 and above.

/// The UTF-8 of a byte's character.
std::string_view byte_level_character(unsigned char byte);
/// The bytes that such characters represent; nullopt if the text has any other character.
std::optional<std::string> bytes_of_byte_level_text(std::string_view utf8);

} // namespace headscope::text
