#pragma once

#include <string>
#include <string_view>

namespace headscope::text {

/// Replaces invalid bytes and control characters with U+FFFD, so that every renderer accepts the text. Tokens
/// of byte-level vocabularies may contain parts of characters.
std::string plain_text(std::string_view text);

/// The first 120 bytes of a text as plain text, with spaces for line ends and "..." if the text continues.
/// For messages that quote a text of any length.
std::string plain_excerpt(std::string_view text);

} // namespace headscope::text
