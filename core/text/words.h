#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// One word or punctuation mark of a sentence.
struct Word {
    std::string text;      ///< NFC, as written
    std::size_t begin = 0; ///< byte range in the original sentence
    std::size_t end = 0;
    bool punctuation = false;
};

inline constexpr std::size_t max_words = 4096;            ///< in a sentence
inline constexpr std::size_t max_word_code_points = 1000; ///< code points of one word

/// Splits a sentence into Unicode words and marks.
/// - Letters, combining marks and numbers of any script form one word. A script written without spaces (Thai,
///   Khmer, ...) therefore gives one word up to the next space; each CJK ideograph and kana is a word.
/// - An apostrophe (' or U+2019), a hyphen (-, U+2010, U+2011) or one invisible format character (soft
///   hyphen, bidi mark) between two letters stays inside the word: "didn't".
/// - An emoji is a word, not punctuation; joiner sequences, skin tones and flags stay together.
/// - Every other mark is a separate word, with `punctuation` set.
/// - White space and control characters (including NUL) separate words. Other invisible format characters,
///   including byte order marks, are dropped.
/// Throws Error(input) for malformed UTF-8 (with the byte), a sentence without words and marks, a sentence of
/// more than max_words words, and a word of more than max_word_code_points code points. Any thread may call
/// this function.
std::vector<Word> split_words(std::string_view sentence);

} // namespace headscope::text
