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

} // namespace headscope::app
