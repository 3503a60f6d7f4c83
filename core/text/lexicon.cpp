#include "core/text/lexicon.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/stable_hash.h"
#include "core/text/lexicon_rules.h"
#include "core/text/random_numbers.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace headscope::text {

namespace {

constexpr std::array<Message, word_class_count> class_names = {
    translatable("common.noun", "noun"),
    translatable("lexicon.pronoun", "pronoun"),
    translatable("common.verb", "verb"),
    translatable("lexicon.auxiliary", "auxiliary"),
    translatable("lexicon.adjective", "adjective"),
    translatable("common.adverb", "adverb"),
    translatable("lexicon.determiner", "determiner"),
    translatable("lexicon.preposition", "preposition"),
    translatable("lexicon.conjunction", "conjunction"),
    translatable("lexicon.particle", "particle"),
    translatable("lexicon.numeral", "numeral"),
    translatable("common.punctuation", "punctuation"),
    translatable("lexicon.unknown", "unknown")};
constexpr std::array<Message, word_category_count> category_names = {
    translatable("lexicon.person", "person"), translatable("lexicon.animal", "animal"),
    translatable("common.place", "place"),    translatable("lexicon.nature", "nature"),
    translatable("lexicon.water", "water"),   translatable("lexicon.money", "money"),
    translatable("lexicon.food", "food"),     translatable("lexicon.time", "time"),
    translatable("lexicon.body", "body"),     translatable("lexicon.thing", "thing"),
    translatable("lexicon.motion", "motion"), translatable("lexicon.speech", "speech"),
    translatable("lexicon.mind", "mind"),     translatable("lexicon.feeling", "feeling"),
    translatable("common.size", "size"),      translatable("lexicon.colour", "colour")};

WordTable read_table(const std::string& file) {
    WordTable made;
    for (auto& line : parse_lexicon(asset(file), file))
        made.emplace(std::move(line.word), line.entry);
    return made;
}

const WordTable& table() {
    static const WordTable rows = read_table("lexicon.tsv");
    return rows;
}

const WordTable& german_table() {
    static const WordTable rows = read_table("lexicon.de.tsv");
    return rows;
}

std::optional<WordEntry> listed(const std::string& word, std::initializer_list<WordClass> wanted) {
    return find_listed(table(), word, wanted);
}

/// The entry of the listed stem, for word = stem + ending. The stem may have lost an e, doubled its last
/// letter or turned y into i.
std::optional<WordEntry> stem_entry(const std::string& word, std::string_view ending,
                                    std::initializer_list<WordClass> wanted) {
    if (!word.ends_with(ending) || word.size() < ending.size() + 2)
        return std::nullopt;
    const std::string stem = word.substr(0, word.size() - ending.size());
    if (auto entry = listed(stem, wanted))
        return entry;
    if (auto entry = listed(stem + "e", wanted))
        return entry;
    if (stem.ends_with('i'))
        return listed(stem.substr(0, stem.size() - 1) + "y", wanted);
    if (stem[stem.size() - 1] == stem[stem.size() - 2])
        return listed(stem.substr(0, stem.size() - 1), wanted);
    return std::nullopt;
}

std::optional<WordEntry> inflected(const std::string& word) {
    using enum WordClass;
    for (const std::string_view ending : {"'s", "s'"})
        if (auto entry = stem_entry(word, ending, {noun, pronoun}))
            return WordEntry{determiner, entry->category, entry->band};
    for (const std::string_view ending : {"s", "es"})
        if (auto entry = stem_entry(word, ending, {noun, verb}))
            return entry;
    for (const std::string_view ending : {"ed", "ing"})
        if (auto entry = stem_entry(word, ending, {verb}))
            return entry;
    for (const std::string_view ending : {"er", "est"})
        if (auto entry = stem_entry(word, ending, {adjective}))
            return entry;
    if (auto entry = stem_entry(word, "ly", {adjective}))
        return WordEntry{adverb, entry->category, entry->band};
    return std::nullopt;
}

std::optional<WordEntry> by_shape(const std::string& word) {
    struct Ending {
        std::string_view text;
        WordClass word_class;
    };
    static constexpr Ending endings[] = {
        {"ly", WordClass::adverb},      {"ness", WordClass::noun},     {"ment", WordClass::noun},
        {"tion", WordClass::noun},      {"ous", WordClass::adjective}, {"ful", WordClass::adjective},
        {"less", WordClass::adjective}, {"ed", WordClass::verb},       {"ing", WordClass::verb}};
    if (word.size() >= 6)
        for (const Ending& ending : endings)
            if (word.ends_with(ending.text))
                return WordEntry{ending.word_class, -1, rarest_band};
    return std::nullopt;
}

/// Returns true if the word is a single code point that is not a letter, mark, number or emoji.
bool single_mark(std::string_view word) {
    utf8proc_int32_t c = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(word.data()),
                                         static_cast<utf8proc_ssize_t>(word.size()), &c);
    if (length <= 0 || static_cast<std::size_t>(length) != word.size())
        return false;
    const auto* property = utf8proc_get_property(c);
    const bool pictograph = property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
                            property->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR;
    return !pictograph && property->category >= UTF8PROC_CATEGORY_PC &&
           property->category <= UTF8PROC_CATEGORY_SO;
}

bool all_digits(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

[[noreturn]] void fail_line(std::string_view file, std::size_t number, const std::string& what) {
    // Translators: the second {} is a file, the third, for example, "has no word".
    fail_input(tr("lexicon.line_should_word_class",
                  "line {} of {} {}; it should be word, class, category, band (0 to 4), separated by tabs",
                  number, file, what));
}

/// Returns true if the word begins with an upper-case letter.
bool has_capital(std::string_view word) {
    utf8proc_int32_t c = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(word.data()),
                                         static_cast<utf8proc_ssize_t>(word.size()), &c);
    return length > 0 && utf8proc_tolower(c) != c;
}

/// Returns true if word i begins a sentence, where a capital letter is not significant.
bool begins_sentence(std::span<const Word> words, std::size_t i) {
    return i == 0 || words[i - 1].punctuation;
}

WordEntry german_entry(std::span<const Word> words, std::size_t i) {
    const std::string& given = words[i].text;
    const std::string word = folded_word(given);
    const bool first = begins_sentence(words, i), capital = has_capital(given);
    const WordTable& known = german_table();
    if (all_digits(word))
        return {WordClass::numeral, -1, 2};
    if (single_mark(word))
        return {WordClass::punctuation, -1, 0};
    const auto row = known.find(word);
    // "Weg" is a noun, "weg" a particle; pronouns of address have a capital letter too.
    const bool may_have_capital = row != known.end() && (row->second.word_class == WordClass::noun ||
                                                         row->second.word_class == WordClass::pronoun ||
                                                         row->second.word_class == WordClass::determiner);
    if (row != known.end() && (first || !capital || may_have_capital))
        return row->second;
    if (const auto hyphen = word.rfind('-'); hyphen != std::string::npos && hyphen + 1 < word.size()) {
        const Word last{.text = given.substr(hyphen + 1), .punctuation = false};
        return german_entry(std::span(&last, 1), 0);
    }
    return infer_german_entry(known, word, capital, first).value_or(WordEntry{});
}

} // namespace

std::optional<WordEntry> find_listed(const WordTable& table, const std::string& word,
                                     std::initializer_list<WordClass> wanted) {
    const auto row = table.find(word);
    if (row == table.end() || std::ranges::find(wanted, row->second.word_class) == wanted.end())
        return std::nullopt;
    return row->second;
}

std::string folded_word(std::string_view word) {
    std::string out;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(word.data());
    for (std::size_t at = 0; at < word.size();) {
        utf8proc_int32_t c = 0;
        const auto length = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(word.size() - at), &c);
        if (length <= 0)
            return std::string(word);
        utf8proc_uint8_t encoded[4];
        const auto size = utf8proc_encode_char(c == 0x2019 ? '\'' : utf8proc_tolower(c), encoded);
        out.append(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(size));
        at += static_cast<std::size_t>(length);
    }
    return out;
}

std::span<const Message, word_class_count> word_class_names() {
    return class_names;
}

std::span<const Message, word_category_count> word_category_names() {
    return category_names;
}

std::vector<LexiconLine> parse_lexicon(std::string_view text, std::string_view file) {
    std::vector<LexiconLine> lines;
    std::unordered_map<std::string, std::size_t> seen;
    for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("# "))
            continue;
        std::array<std::string_view, 4> fields;
        std::size_t begin = 0;
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const std::size_t tab = f + 1 < fields.size() ? line.find('\t', begin) : line.size();
            if (tab == std::string_view::npos)
                fail_line(file, number, tr("lexicon.fields", "has {} fields", f + 1));
            fields[f] = line.substr(begin, tab - begin);
            begin = tab + 1;
        }
        const auto word_class = std::ranges::find(class_names, fields[1], &Message::english);
        const auto category = std::ranges::find(category_names, fields[2], &Message::english);
        if (fields[0].empty())
            fail_line(file, number, tr("lexicon.no_word", "has no word"));
        if (word_class == class_names.end())
            fail_line(file, number, tr("lexicon.unknown_class", "has the unknown class \"{}\"", fields[1]));
        if (category == category_names.end() && fields[2] != "-")
            fail_line(file, number,
                      tr("lexicon.unknown_category", "has the unknown category \"{}\"", fields[2]));
        if (fields[3].size() != 1 || fields[3][0] < '0' || fields[3][0] > '0' + rarest_band)
            fail_line(file, number, tr("lexicon.band", "has the band \"{}\"", fields[3]));
        LexiconLine row{folded_word(fields[0]),
                        {static_cast<WordClass>(word_class - class_names.begin()),
                         fields[2] == "-" ? -1 : static_cast<int>(category - category_names.begin()),
                         fields[3][0] - '0'}};
        if (const auto [first, added] = seen.emplace(row.word, number); !added)
            fail_line(file, number,
                      tr("lexicon.already_line", "has \"{}\", already on line {}", row.word, first->second));
        lines.push_back(std::move(row));
    }
    return lines;
}

WordList word_list_of(std::span<const Word> words) {
    int german = 0, english = 0, count = 0;
    bool german_noun = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = folded_word(words[i].text);
        if (words[i].punctuation || all_digits(word))
            continue;
        ++count;
        const bool in_german = german_table().contains(word), in_english = table().contains(word);
        constexpr std::string_view own_letters[] = {"ä", "ö", "ü", "ß"};
        const bool own_letter = std::ranges::any_of(
            own_letters, [&](std::string_view letter) { return word.find(letter) != std::string::npos; });
        german += in_german || (own_letter && !in_english) ? 1 : 0;
        english += in_english ? 1 : 0;
        german_noun = german_noun || (!begins_sentence(words, i) && has_capital(words[i].text) &&
                                      find_listed(german_table(), word, {WordClass::noun}));
    }
    const bool enough = 3 * german >= count; // else a third language, of which both lists have few words
    return enough && german > 0 && (german > english || (german == english && german_noun))
               ? WordList::german
               : WordList::english;
}

std::vector<WordEntry> look_up(std::span<const Word> words) {
    const bool german = word_list_of(words) == WordList::german;
    std::vector<WordEntry> entries;
    for (std::size_t i = 0; i < words.size(); ++i)
        entries.push_back(german ? german_entry(words, i) : look_up(words[i].text));
    return entries;
}

WordEntry look_up(std::string_view given) {
    const std::string word = folded_word(given);
    if (const auto row = table().find(word); row != table().end())
        return row->second;
    if (all_digits(word))
        return {WordClass::numeral, -1, 2};
    if (single_mark(word))
        return {WordClass::punctuation, -1, 0};
    if (auto entry = inflected(word))
        return *entry;
    if (const auto hyphen = word.rfind('-'); hyphen != std::string::npos && hyphen + 1 < word.size())
        return look_up(std::string_view(word).substr(hyphen + 1));
    return by_shape(word).value_or(WordEntry{});
}

std::vector<float> word_vector(std::string_view word, std::size_t width, std::uint64_t seed) {
    RandomNumbers numbers(stable_hash(folded_word(word)) ^ RandomNumbers(seed).next());
    std::vector<float> out(width);
    std::ranges::generate(out, [&] { return numbers.uniform(); });
    return out;
}

} // namespace headscope::text
