#pragma once

#include <string>
#include <string_view>

namespace headscope::text {

/// Replaces broken bytes and control characters with U+FFFD, so that every renderer accepts the text. Tokens
/// of byte-level vocabularies may be halves of characters.
std::string plain_text(std::string_view text);

} // namespace headscope::text
