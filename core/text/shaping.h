#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope::text {

/// Whether the look of some character depends on its neighbours, on the direction of the text, or on colours
/// of its own: letters that join (Arabic, Indic and other scripts), right-to-left text, marks on letters, and
/// characters beyond U+FFFF, such as emoji. Broken UTF-8 does not.
bool needs_shaping(std::string_view text);

/// A word to stand among others: with right-to-left letters between U+2068 and U+2069, so that what stands
/// around it keeps its order.
std::string isolated(const std::string& word);

/// The first character that satisfies a condition; 0: none does. The condition gets a character's number and
/// its bytes; broken bytes are left out.
char32_t first_character(std::string_view text,
                         const std::function<bool(char32_t, std::string_view)>& condition);

} // namespace headscope::text
