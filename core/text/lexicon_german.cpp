#include "core/text/lexicon_rules.h"

#include <algorithm>
#include <array>

namespace headscope::text {

namespace {

using enum WordClass;

/// The entry of the first listed word of the wanted classes among stem + each ending in `whole`.
std::optional<WordEntry> with_any(const WordTable& table, const std::string& stem,
                                  std::initializer_list<std::string_view> whole,
                                  std::initializer_list<WordClass> wanted) {
    for (const std::string_view end : whole)
        if (auto entry = find_listed(table, stem + std::string(end), wanted))
            return entry;
    return std::nullopt;
}

/// Calls `look` with the word without each of the endings, in their order, until it returns an entry.
template<class Look>
std::optional<WordEntry> without_ending(const std::string& word,
                                        std::initializer_list<std::string_view> endings, const Look& look) {
    constexpr std::size_t shortest_stem = 2;
    for (const std::string_view ending : endings)
        if (word.ends_with(ending) && word.size() >= ending.size() + shortest_stem)
            if (auto entry = look(word.substr(0, word.size() - ending.size())))
                return entry;
    return std::nullopt;
}

/// A form of a listed verb: "spielst", "spielte", "gespielt", and with a prefix "ausgespielt".
std::optional<WordEntry> verb_form(const WordTable& table, const std::string& word) {
    const auto infinitive = [&](const std::string& stem) {
        return with_any(table, stem, {"en", "n"}, {verb});
    };
    const auto form = [&](const std::string& of) -> std::optional<WordEntry> {
        if (auto entry = find_listed(table, of, {verb}))
            return entry;
        if (auto entry = without_ending(of,
                                        {"etest", "eten", "test", "tet", "ten", "ete", "est", "end", "et",
                                         "en", "te", "st", "t", "e"},
                                        infinitive))
            return entry;
        if (of.starts_with("ge"))
            return without_ending(of.substr(2), {"et", "t"}, infinitive);
        return std::nullopt;
    };
    if (auto entry = form(word))
        return entry;
    static constexpr std::string_view prefixes[] = {
        "zusammen", "zurück", "weiter", "herein", "hinaus", "heraus", "hinein", "herum", "unter", "nach",
        "über",     "fort",   "auf",    "aus",    "ein",    "mit",    "vor",    "weg",   "her",   "hin",
        "los",      "ent",    "ver",    "zer",    "ab",     "an",     "be",     "er",    "um",    "zu"};
    constexpr std::size_t shortest_rest = 4;
    for (const std::string_view prefix : prefixes)
        if (word.starts_with(prefix) && word.size() >= prefix.size() + shortest_rest) {
            std::string rest = word.substr(prefix.size());
            if (rest.starts_with("zu")) // "aufzumachen"
                if (auto entry = form(rest.substr(2)))
                    return entry;
            if (auto entry = form(rest))
                return entry;
        }
    return std::nullopt;
}

/// A form of a listed adjective: "kleine", "kleiner", "kleinsten".
std::optional<WordEntry> adjective_form(const WordTable& table, const std::string& word) {
    return without_ending(word,
                          {"esten", "estes", "ester", "este", "sten", "stes", "ster", "ste", "eren", "eres",
                           "erer", "ere", "en", "em", "er", "es", "e"},
                          [&](const std::string& stem) {
                              return with_any(table, stem, {"", "e"}, {adjective});
                          });
}

/// A form of a listed noun, or a compound that ends with one: "Hundes", "Haustür".
std::optional<WordEntry> noun_form(const WordTable& table, const std::string& word) {
    if (auto entry = without_ending(word, {"en", "es", "er", "e", "n", "s"}, [&](const std::string& stem) {
            return find_listed(table, stem, {noun});
        }))
        return entry;
    constexpr std::size_t shortest_part = 3;
    for (std::size_t at = shortest_part; at + shortest_part <= word.size(); ++at)
        if (auto entry = find_listed(table, word.substr(at), {noun}))
            return WordEntry{noun, entry->category, rarest_band};
    return std::nullopt;
}

std::optional<WordEntry> by_german_shape(const std::string& word) {
    struct Ending {
        std::string_view text;
        WordClass word_class;
    };
    static constexpr Ending endings[] = {
        {"ungen", noun},       {"heiten", noun},    {"keiten", noun},    {"ung", noun},
        {"heit", noun},        {"keit", noun},      {"schaft", noun},    {"tion", noun},
        {"tät", noun},         {"chen", noun},      {"lein", noun},      {"ling", noun},
        {"nis", noun},         {"tum", noun},       {"ismus", noun},     {"weise", adverb},
        {"lich", adjective},   {"isch", adjective}, {"bar", adjective},  {"sam", adjective},
        {"los", adjective},    {"haft", adjective}, {"ig", adjective},   {"liche", adjective},
        {"lichen", adjective}, {"ige", adjective},  {"igen", adjective}, {"ische", adjective},
        {"ischen", adjective}, {"ieren", verb},     {"iert", verb},      {"ierte", verb},
        {"ierten", verb},      {"te", verb},        {"ten", verb},       {"t", verb}};
    constexpr std::size_t shortest = 6;
    if (word.size() >= shortest)
        for (const Ending& ending : endings)
            if (word.ends_with(ending.text))
                return WordEntry{ending.word_class, -1, rarest_band};
    return std::nullopt;
}

} // namespace

std::optional<WordEntry> infer_german_entry(const WordTable& table, const std::string& word, bool capital,
                                            bool first) {
    if (capital && !first) // a capital letter inside a sentence means a noun in German
        return noun_form(table, word).value_or(WordEntry{noun, -1, rarest_band});
    if (auto entry = verb_form(table, word); entry && !capital)
        return entry;
    if (auto entry = adjective_form(table, word))
        return entry;
    if (capital)
        if (auto entry = noun_form(table, word))
            return entry;
    if (auto entry = verb_form(table, word))
        return entry;
    if (auto entry = by_german_shape(word))
        return entry;
    return capital ? std::optional(WordEntry{noun, -1, rarest_band}) : std::nullopt;
}

} // namespace headscope::text
