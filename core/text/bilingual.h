#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headscope::text {

inline constexpr std::int64_t meaning_width = 8;   ///< numbers in one meaning
inline constexpr std::int64_t most_meanings = 120; ///< maximum number of lines in assets/bilingual.tsv

using Meaning = std::array<float, meaning_width>;

/// The meaning vector with an index from 0 to most_meanings - 1. The vectors are 120 of the 240 shortest
/// vectors of the lattice E8, one of each pair of opposites. Each has length sqrt 2; the dot product of two
/// different vectors is 0, 1 or -1. The eight vectors from 8n on are orthogonal to each other.
Meaning meaning_vector(std::int64_t number);

/// The meaning of a word of either language, a vector of length sqrt 2. A word on several lines of the list
/// has the scaled sum of their meanings; so does a word whose parts before and after an apostrophe are listed
/// ("l'eau"). An unlisted word has the opposite of one of the meanings, selected by a hash of its letters; no
/// listed word has an opposite. Case is ignored. Throws Error(input) with the line for an invalid list. Any
/// thread may call this function.
Meaning meaning_of(std::string_view word);

/// Returns true if the list has the word, or its parts before and after an apostrophe. Throws and runs like
/// meaning_of.
bool has_listed_meaning(std::string_view word);

/// The indices of the meanings of a word in a list with the format of assets/bilingual.tsv; empty for an
/// unlisted word. Throws Error(input) with the invalid line.
std::vector<std::int64_t> listed_meanings(std::string_view list, std::string_view word);

} // namespace headscope::text
