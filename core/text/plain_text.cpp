#include "core/text/plain_text.h"

#include <algorithm>
#include <utf8proc.h>

namespace headscope::text {

std::string plain_text(std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        utf8proc_int32_t code_point = -1;
        const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                           static_cast<utf8proc_ssize_t>(text.size()), &code_point);
        const bool shown = used > 0 && code_point >= 0x20 && (code_point < 0x7F || code_point > 0x9F) &&
                           (code_point & 0xFFFE) != 0xFFFE;
        const auto length = used > 0 ? static_cast<std::size_t>(used) : 1;
        out += shown ? text.substr(0, length) : replacement;
        text.remove_prefix(length);
    }
    return out;
}

std::string plain_excerpt(std::string_view text) {
    std::size_t shown = std::min<std::size_t>(text.size(), 120);
    while (shown < text.size() && shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xC0U) == 0x80U)
        --shown; // never splits a character
    std::string beginning(text.substr(0, shown));
    std::ranges::replace_if(
        beginning, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    return plain_text(beginning) + (shown < text.size() ? "..." : "");
}

} // namespace headscope::text
