#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope::text {

/// Returns true if the shape or position of some character depends on its neighbors, on the direction of the
/// text, or on colors of its own: joining letters (Arabic, Indic and other scripts), right-to-left text,
/// combining marks, and characters beyond U+FFFF, such as emoji. Invalid UTF-8 is ignored.
bool needs_shaping(std::string_view text);

/// A word for insertion into other text: enclosed in U+2068 and U+2069 if it has right-to-left letters, so
/// that the surrounding text keeps its order.
std::string isolated(const std::string& word);

/// The first character that satisfies a condition; 0 if none does. The condition receives a character's code
/// point and its bytes; invalid bytes are skipped.
char32_t first_character(std::string_view text,
                         const std::function<bool(char32_t, std::string_view)>& condition);

} // namespace headscope::text
