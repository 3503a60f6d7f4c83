#include "core/text/shaping.h"

#include <utf8proc.h>

#include <algorithm>

namespace headscope::text {

namespace {

/// Scripts whose letters join or reorder although they are not marks or right-to-left: first and last
/// character.
constexpr char32_t joining[][2] = {
    {0x0900, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x18AF}, {0x1B00, 0x1CFF}, {0xA840, 0xABFF}};

bool is_right_to_left(char32_t c) {
    const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    return property.bidi_class == UTF8PROC_BIDI_CLASS_R || property.bidi_class == UTF8PROC_BIDI_CLASS_AL;
}

bool joins(char32_t c) {
    if (c >= 0x10000 || is_right_to_left(c))
        return true;
    const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    return property.category == UTF8PROC_CATEGORY_MN || property.category == UTF8PROC_CATEGORY_MC ||
           property.category == UTF8PROC_CATEGORY_ME ||
           std::ranges::any_of(joining, [c](const auto& one) { return c >= one[0] && c <= one[1]; });
}

} // namespace

char32_t first_character(std::string_view text,
                         const std::function<bool(char32_t, std::string_view)>& condition) {
    while (!text.empty()) {
        utf8proc_int32_t code_point = -1;
        const auto used = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(
            1, utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                static_cast<utf8proc_ssize_t>(text.size()), &code_point)));
        if (code_point >= 0 && condition(static_cast<char32_t>(code_point), text.substr(0, used)))
            return static_cast<char32_t>(code_point);
        text.remove_prefix(used);
    }
    return 0;
}

bool needs_shaping(std::string_view text) {
    // In UTF-8, U+0300 (the first combining mark) and all later characters start with a byte of at least
    // 0xCC.
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0xCC; }) &&
           first_character(text, [](char32_t c, std::string_view) { return joins(c); }) != 0;
}

std::string isolated(const std::string& word) {
    const bool turns =
        first_character(word, [](char32_t c, std::string_view) { return is_right_to_left(c); }) != 0;
    return turns ? "\u2068" + word + "\u2069" : word;
}

} // namespace headscope::text
