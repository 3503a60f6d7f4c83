#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::app {

/// The quality of a fuzzy match.
struct FuzzyMatch {
    int score = 0;
    /// Matched byte ranges of the text, [begin, end), in order and not adjacent.
    std::vector<std::pair<std::size_t, std::size_t>> marks = {};
};

/// Matches each typed word: its letters occur in this order in `text`, or it is a prefix of a word in `also`,
/// which scores less. Letters that begin the text or a word score most, then consecutive letters; case is
/// ignored. Empty if a word matches neither or its letters are too far apart. All arguments are UTF-8.
std::optional<FuzzyMatch> fuzzy_match(std::string_view typed, std::string_view text,
                                      std::string_view also = {});

/// The part of an entry that matches the typed text, best first.
enum class MatchQuality : unsigned char {
    title,       ///< the typed text equals the title or the keys
    title_start, ///< the title starts with it
    word_starts, ///< each typed word is a prefix of a word in the title
    other_words, ///< the same including synonyms
    further      ///< scattered letters, or words of the description
};
/// Ignores case, characters other than letters and digits before the title, and most spaces: "L5H3" equals
/// "L5 H3".
MatchQuality match_quality(std::string_view typed, std::string_view title, std::string_view words);
/// The number of typed words followed by a number, such as "layer 2", that occur in this form in the text.
int matched_numbered_words(std::string_view typed, std::string_view text);
/// Returns true if both texts name the same keys: "ctrl+e" and "Ctrl E".
bool same_keys(std::string_view typed, std::string_view keys);

} // namespace headscope::app
