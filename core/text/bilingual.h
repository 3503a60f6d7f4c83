#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::text {

inline constexpr std::int64_t meaning_width = 8;   ///< numbers of one meaning
inline constexpr std::int64_t most_meanings = 120; ///< lines that assets/bilingual.tsv may have

using Meaning = std::array<float, meaning_width>;

/// The meaning with that number, 0 to most_meanings - 1: half of the 240 shortest vectors of the lattice E8,
/// none with its opposite. All have length sqrt 2; two different ones multiply to 0, 1 or -1. The eight from
/// 8n on are at right angles to each other.
Meaning meaning_vector(std::int64_t number);

/// What a word of either language means, of length sqrt 2. A word that stands on several lines of the list is
/// their sum, scaled; so is one whose parts before and after an apostrophe are listed ("l'eau"). A word that
/// is not listed has the opposite of one of the meanings, chosen by a hash of its letters: never that of a
/// listed word. Letters count as lower case. Throws Error(input) naming the line for a damaged list. From any
/// thread.
Meaning meaning_of(std::string_view word);

/// Numbers of the meanings that a text of the form of assets/bilingual.tsv gives to a word; empty when it is
/// not listed. Throws Error(input) naming the line at fault.
std::vector<std::int64_t> listed_meanings(std::string_view list, std::string_view word);

} // namespace headscope::text
