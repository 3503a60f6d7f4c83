#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// One word or punctuation mark of a sentence.
struct Word {
    std::string text;      ///< NFC, as written
    std::size_t begin = 0; ///< byte range in the sentence as given
    std::size_t end = 0;
    bool punctuation = false;
};

inline constexpr std::size_t max_words = 4096;        ///< of a sentence
inline constexpr std::size_t max_word_letters = 1000; ///< code points of one word

/// Splits a sentence into Unicode words and punctuation marks: letters, marks and digits hold together, an
/// apostrophe or hyphen between letters stays inside its word ("didn't"), every other mark stands alone,
/// white space separates. Throws Error(input) for malformed UTF-8 (naming the byte), a sentence with no word,
/// one of more than max_words words, and a word of more than max_word_letters code points.
std::vector<Word> split_words(std::string_view sentence);

} // namespace headscope
