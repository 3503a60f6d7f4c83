#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <utf8proc.h>

namespace headscope::text {

namespace {

utf8proc_category_t category(char32_t letter) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(letter));
}

bool between(char32_t letter, char32_t first, char32_t last) {
    return letter >= first && letter <= last;
}

/// The number of bytes at the front that form the longest valid start of a character (Unicode's maximal
/// subpart).
std::size_t maximal_part(std::string_view bytes) {
    const auto byte = [&](std::size_t at) {
        return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
    };
    const unsigned lead = byte(0), second = byte(1);
    const bool follows = second >= 0x80 && second <= 0xBF;
    const bool second_fits = lead >= 0xC2 && lead <= 0xF4 && follows && !(lead == 0xE0 && second < 0xA0) &&
                             !(lead == 0xED && second > 0x9F) && !(lead == 0xF0 && second < 0x90) &&
                             !(lead == 0xF4 && second > 0x8F);
    if (!second_fits || lead < 0xE0)
        return 1;
    return lead >= 0xF0 && byte(2) >= 0x80 && byte(2) <= 0xBF ? 3 : 2;
}

} // namespace

std::optional<CodePoint> code_point_at(std::string_view text, std::size_t at) {
    if (at >= text.size())
        return std::nullopt;
    if (const auto byte = static_cast<unsigned char>(text[at]); byte < 0x80)
        return CodePoint{byte, 1};
    constexpr std::size_t longest = 4;
    utf8proc_int32_t value = 0;
    const auto size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                         static_cast<utf8proc_ssize_t>(std::min(longest, text.size() - at)), &value);
    if (size < 1)
        return std::nullopt;
    return CodePoint{static_cast<char32_t>(value), static_cast<std::size_t>(size)};
}

bool is_utf8(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto letter = code_point_at(bytes, at);
        if (!letter)
            return false;
        at += letter->size;
    }
    return true;
}

std::u32string to_code_points(std::string_view utf8) {
    std::u32string letters;
    for_each_code_point(utf8, [&](char32_t letter, std::size_t, std::size_t) { letters += letter; });
    return letters;
}

void append_utf8(std::string& out, char32_t letter) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(letter), bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

std::size_t count_code_points(std::string_view utf8) {
    return static_cast<std::size_t>(std::ranges::count_if(
        utf8, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::size_t cluster_end(std::string_view text, std::size_t at) {
    auto before = code_point_at(text, at);
    utf8proc_int32_t state = 0;
    while (before) {
        at += before->size;
        const auto next = code_point_at(text, at);
        if (next && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before->value),
                                                     static_cast<utf8proc_int32_t>(next->value), &state))
            break;
        before = next;
    }
    return at;
}

std::string to_utf8_lossy(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        if (const auto letter = code_point_at(bytes, at)) {
            out += bytes.substr(at, letter->size);
            at += letter->size;
        } else {
            out += "\uFFFD";
            at += maximal_part(bytes.substr(at));
        }
    }
    return out;
}

bool is_whitespace(char32_t letter) {
    return between(letter, '\t', '\r') || letter == ' ' || letter == 0x85 || letter == 0xA0 ||
           letter == 0x1680 || between(letter, 0x2000, 0x200A) || letter == 0x2028 || letter == 0x2029 ||
           letter == 0x202F || letter == 0x205F || letter == 0x3000;
}

bool is_numeric(char32_t letter) {
    const auto kind = category(letter);
    return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t letter) {
    if (letter < 0x80)
        return between(letter, '!', '/') || between(letter, ':', '@') || between(letter, '[', '`') ||
               between(letter, '{', '~');
    const auto kind = category(letter);
    return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t letter) {
    const auto kind = category(letter);
    return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t letter) {
    return category(letter) == UTF8PROC_CATEGORY_MN;
}

bool is_control_for_bert(char32_t letter) {
    if (letter == '\t' || letter == '\n' || letter == '\r')
        return false;
    const auto kind = category(letter);
    return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO;
}

bool is_ideograph_for_bert(char32_t letter) {
    return between(letter, 0x4E00, 0x9FFF) || between(letter, 0x3400, 0x4DBF) ||
           between(letter, 0x20000, 0x2A6DF) || between(letter, 0x2A700, 0x2B73F) ||
           between(letter, 0x2B740, 0x2B81F) || between(letter, 0x2B920, 0x2CEAF) ||
           between(letter, 0xF900, 0xFAFF) || between(letter, 0x2F800, 0x2FA1F);
}

bool is_word_character(char32_t letter) {
    const auto kind = category(letter);
    const bool is_letter = kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
    const bool circled = between(letter, 0x24B6, 0x24E9) || between(letter, 0x1F130, 0x1F149) ||
                         between(letter, 0x1F150, 0x1F169) || between(letter, 0x1F170, 0x1F189);
    return is_letter || circled || is_mark(letter) || kind == UTF8PROC_CATEGORY_ND ||
           kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_PC || letter == 0x200C ||
           letter == 0x200D;
}

std::u32string lower_case(char32_t letter) {
    if (letter == 0x130)
        return U"i\u0307";
    return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(letter)))};
}

} // namespace headscope::text
