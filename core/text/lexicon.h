#pragma once

#include "core/base/message.h"
#include "core/text/words.h"

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

/// The names of the word classes. The English texts are the names in assets/lexicon.tsv, in the order of the
/// enumeration.
std::span<const Message, word_class_count> word_class_names();
/// The names of the categories: "person", "animal", ... A category is an index into this list.
std::span<const Message, word_category_count> word_category_names();

/// The lexicon's entry for one word.
struct WordEntry {
    WordClass word_class = WordClass::unknown;
    int category = -1;      ///< index into word_category_names(), or -1
    int band = rarest_band; ///< frequency band: 0 (most frequent) to rarest_band
    bool operator==(const WordEntry&) const = default;
};

struct LexiconLine {
    std::string word; ///< in lower case
    WordEntry entry;
};

/// Parses a word list such as assets/lexicon.tsv: word, class, category ("-": none), band, separated by tabs;
/// lines that begin with "# " are comments. Throws Error(input) with `file` and the line for any other text
/// and for a word that occurs twice.
std::vector<LexiconLine> parse_lexicon(std::string_view text, std::string_view file = "lexicon.tsv");

/// The languages whose words have classes: assets/lexicon.tsv and assets/lexicon.de.tsv.
enum class WordList : std::uint8_t { english, german };

/// The list for a sentence, selected by its words only. German if the German list has more of them than the
/// English list, where a word with a letter such as ß also counts, and at least a third of all words. For
/// equal counts, a German noun with a capital letter inside the sentence selects German; otherwise English.
WordList word_list_of(std::span<const Word> words);

/// A word in the spelling of the word lists: lower case, U+2019 as an apostrophe.
std::string folded_word(std::string_view word);

/// Looks a word up; case is ignored, and U+2019 is an apostrophe. Rules for an unlisted word:
/// - Digits are a numeral. A possessive of a listed word is a determiner. A single mark is punctuation.
/// - A listed stem with -s, -es, -ies, -ed or -ing keeps its class; with -er or -est the stem stays an
///   adjective; with -ly it becomes an adverb. A hyphenated word has the entry of its last part.
/// - A word of six letters or more with the ending -ly is an adverb, with -ness, -ment or -tion a noun, with
///   -ous, -ful or -less an adjective.
/// - Any other word is unknown, in the rarest band.
/// Any thread may call this function. Throws only Error(input), for an invalid lexicon.
WordEntry look_up(std::string_view word);

/// The entry of each word of a sentence, in the list that word_list_of() selects. The German list has its own
/// rules: a capital letter inside a sentence indicates a noun; endings of verbs, adjectives and nouns lead to
/// a listed word; a compound has the entry of its last part.
std::vector<WordEntry> look_up(std::span<const Word> words);

/// `width` numbers in [-1, 1) that depend only on the lower-case word and the seed; the same on every
/// machine.
std::vector<float> word_vector(std::string_view word, std::size_t width, std::uint64_t seed);

} // namespace headscope::text
