#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::text {

/// A code point of a UTF-8 text and its length in bytes.
struct CodePoint {
    char32_t value = 0;
    std::size_t size = 0;
};

/// The code point that begins at byte `at` of a UTF-8 text; nullopt for invalid UTF-8 and at the end.
std::optional<CodePoint> code_point_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view bytes);

/// Calls `visit(code point, first byte, bytes)` for each code point of a valid UTF-8 text.
template<class Visit>
void for_each_code_point(std::string_view text, const Visit& visit) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint letter = code_point_at(text, at).value_or(CodePoint{0xFFFD, 1});
        visit(letter.value, at, letter.size);
        at += letter.size;
    }
}

std::u32string to_code_points(std::string_view utf8);
void append_utf8(std::string& out, char32_t letter);
std::size_t count_code_points(std::string_view utf8);

/// The end of the extended grapheme cluster (Unicode Standard Annex 29) that begins at byte `at` of a valid
/// text.
std::size_t cluster_end(std::string_view text, std::size_t at);

/// Replaces invalid UTF-8 with U+FFFD, one for each maximal subpart (Unicode standard, section 3.9, like
/// Rust's from_utf8_lossy).
std::string to_utf8_lossy(std::string_view bytes);

// Properties of code points, with the Unicode definitions that the Rust library uses.

bool is_whitespace(char32_t letter);         ///< White_Space
bool is_numeric(char32_t letter);            ///< Nd, Nl, No
bool is_punctuation(char32_t letter);        ///< ASCII punctuation and the categories P
bool is_mark(char32_t letter);               ///< Mn, Mc, Me
bool is_nonspacing_mark(char32_t letter);    ///< Mn
bool is_control_for_bert(char32_t letter);   ///< Cc, Cf, Co except tab, newline, carriage return
bool is_ideograph_for_bert(char32_t letter); ///< the CJK blocks of Google's BERT
/// Letters, digits, marks, connectors: \w of Rust's regular expressions.
bool is_word_character(char32_t letter);
/// The full lower-case mapping: one code point, or two for U+0130.
std::u32string lower_case(char32_t letter);

} // namespace headscope::text
