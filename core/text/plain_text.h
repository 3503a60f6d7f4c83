#pragma once

#include <string>
#include <string_view>

namespace headscope::text {

/// Text that every renderer takes: UTF-8 in which broken bytes and control characters are replaced by U+FFFD.
/// Tokens of byte-level vocabularies may be halves of characters.
std::string plain_text(std::string_view text);

} // namespace headscope::text
