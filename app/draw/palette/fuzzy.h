#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::app {

/// How well a text answers what was typed.
struct FuzzyMatch {
    int score = 0;
    /// Bytes of the text that were matched, [begin, end), in order and apart from each other.
    std::vector<std::pair<std::size_t, std::size_t>> marks = {};
};

/// Each word that was typed has its letters, in order, in `text`, or it begins a word of `also`, which counts
/// less. Letters that begin the text or a word count most, then letters that follow each other; capitals
/// count as small letters. Nothing where a word is in neither, or its letters are too far apart. Both are
/// UTF-8.
std::optional<FuzzyMatch> fuzzy_match(std::string_view typed, std::string_view text,
                                      std::string_view also = {});

/// Which part of an entry answers what was typed, the best answer first.
enum class Answer : unsigned char {
    title,       ///< it is the title, or the keys
    title_start, ///< the title begins with it
    word_starts, ///< each word that was typed begins a word of the title
    other_words, ///< the same with the words that other people use
    further      ///< letters, or words of its sentence
};
/// Case, and what is neither letter nor digit at the ends of a title, say nothing, and spaces little: "L5H3"
/// is "L5 H3".
Answer answer_of(std::string_view typed, std::string_view title, std::string_view words);
/// How many of the words with a number after them that were typed, such as "layer 2", stand so in the text.
int kept_numbers(std::string_view typed, std::string_view text);
/// Whether both name the same keys: "ctrl+e" and "Ctrl E".
bool same_keys(std::string_view typed, std::string_view keys);

} // namespace headscope::app
