#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::text {

inline constexpr std::int64_t meaning_width = 8;   ///< numbers in one meaning
inline constexpr std::int64_t most_meanings = 120; ///< most lines that assets/bilingual.tsv may have

using Meaning = std::array<float, meaning_width>;

/// The meaning with this number, 0 to most_meanings - 1. The meanings are 120 of the 240 shortest vectors of
/// the lattice E8, one of each pair of opposites. Each has length sqrt 2; the product of two different
/// meanings is 0, 1 or -1. The eight meanings from 8n on are at right angles to each other.
Meaning meaning_vector(std::int64_t number);

/// The meaning of a word of either language, a vector of length sqrt 2. A word on several lines of the list
/// gets the scaled sum of their meanings; so does a word whose parts before and after an apostrophe are
/// listed ("l'eau"). An unlisted word gets the opposite of one of the meanings, chosen by a hash of its
/// letters; no listed word has an opposite. Upper case counts as lower case. Throws Error(input) naming the
/// line for a damaged list. Any thread may call this function.
Meaning meaning_of(std::string_view word);

/// Whether the list has the word, or its parts before and after an apostrophe. Throws and runs as meaning_of.
bool has_listed_meaning(std::string_view word);

/// Numbers of the meanings that a list in the format of assets/bilingual.tsv gives to a word; empty for an
/// unlisted word. Throws Error(input) naming the line at fault.
std::vector<std::int64_t> listed_meanings(std::string_view list, std::string_view word);

} // namespace headscope::text
