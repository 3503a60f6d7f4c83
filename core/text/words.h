#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// One word or punctuation mark of a sentence.
struct Word {
    std::string text;      ///< NFC, as written
    std::size_t begin = 0; ///< byte range in the sentence as given
    std::size_t end = 0;
    bool punctuation = false;
};

inline constexpr std::size_t max_words = 4096;        ///< of a sentence
inline constexpr std::size_t max_word_letters = 1000; ///< code points of one word

/// Splits a sentence into Unicode words and marks.
/// - Letters, combining marks and numbers of any script hold together. Scripts written without spaces (Thai,
///   Khmer, ...) therefore stay one word up to the next space; CJK ideographs and kana each stand alone.
/// - An apostrophe (' or U+2019), a hyphen (-, U+2010, U+2011) or one invisible format character (soft
/// hyphen,
///   bidi mark) between two letters stays inside the word: "didn't".
/// - An emoji stands alone and is no punctuation; joiner sequences, skin tones and flags are kept together.
/// - Every other mark stands alone with `punctuation` set.
/// - White space and control characters (NUL among them) separate. Invisible format characters elsewhere,
/// byte
///   order marks among them, are dropped.
/// Throws Error(input) for malformed UTF-8 (naming the byte), a sentence with neither word nor mark, one of
/// more than max_words words, and a word of more than max_word_letters code points. May be called from any
/// thread.
std::vector<Word> split_words(std::string_view sentence);

} // namespace headscope::text
