#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

enum class WordClass : std::uint8_t {
    noun,
    pronoun,
    verb,
    auxiliary,
    adjective,
    adverb,
    determiner,
    preposition,
    conjunction,
    particle,
    numeral,
    punctuation,
    unknown
};
inline constexpr std::size_t word_class_count = 13;
inline constexpr std::size_t word_category_count = 16;
inline constexpr int rarest_band = 4;

/// As written in assets/lexicon.tsv, in the order of the enumeration.
std::span<const std::string_view, word_class_count> word_class_names();
/// "person", "animal", ...; a category is an index into this list.
std::span<const std::string_view, word_category_count> word_category_names();

/// What the lexicon says about one word.
struct WordEntry {
    WordClass word_class = WordClass::unknown;
    int category = -1;      ///< index into word_category_names(), or -1
    int band = rarest_band; ///< frequency: 0 (the commonest) to rarest_band
    bool operator==(const WordEntry&) const = default;
};

struct LexiconLine {
    std::string word; ///< lower case
    WordEntry entry;
};

/// Parses the text of assets/lexicon.tsv: word, class, category ("-": none), band, separated by tabs; lines
/// that begin with "# " are comments. Throws Error(input) naming the line for anything else and for a word
/// that comes twice.
std::vector<LexiconLine> parse_lexicon(std::string_view text);

/// A word as the word lists have it: lower case, U+2019 as an apostrophe.
std::string folded_word(std::string_view word);

/// Looks a word up without regard to case (U+2019 reads as an apostrophe). For a word that is not listed:
/// digits are a numeral; a possessive of a listed word is a determiner; a listed stem with -s, -es, -ies,
/// -ed, -ing keeps its class, with -er, -est it stays an adjective, with -ly it becomes an adverb; a
/// hyphenated word reads as its last part; the endings -ly (adverb), -ness, -ment, -tion (noun), -ous, -ful,
/// -less (adjective) are believed of any word of six letters or more; a sole mark is punctuation. Else:
/// unknown, the rarest band. May be called from any thread. Throws only Error(input) for a damaged lexicon.
WordEntry look_up(std::string_view word);

/// `width` numbers in [-1, 1), decided by the lower-case word and the seed alone; the same on every machine.
std::vector<float> word_vector(std::string_view word, std::size_t width, std::uint64_t seed);

} // namespace headscope::text
