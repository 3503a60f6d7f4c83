#include "core/base/assets.h"
#include "core/text/lexicon.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/core/text/weights_by_definition.h"
#include "tests/test_data.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace headscope;
using namespace headscope::text;
using headscope::testing::weights_of;

namespace {

/// "determiner noun verb" for "Der Hund schläft".
std::string classes_of(const std::string& sentence) {
    std::string out;
    for (const WordEntry& entry : look_up(split_words(sentence)))
        out += (out.empty() ? "" : " ") +
               std::string(word_class_names()[static_cast<std::size_t>(entry.word_class)].english);
    return out;
}

bool is_german(const std::string& sentence) {
    return word_list_of(split_words(sentence)) == WordList::german;
}

} // namespace

TEST_CASE("the German lexicon parses and is about as long as the English one") {
    const auto lines = parse_lexicon(asset("lexicon.de.tsv"), "lexicon.de.tsv");
    const auto english = parse_lexicon(asset("lexicon.tsv"));
    CHECK(lines.size() > english.size());
    CHECK(lines.size() < 2 * english.size());
    std::set<WordClass> classes;
    std::set<int> categories;
    for (const auto& line : lines) {
        INFO(line.word);
        CHECK(split_words(line.word).size() == 1);
        classes.insert(line.entry.word_class);
        categories.insert(line.entry.category);
    }
    CHECK(classes.size() == word_class_count - 2); // punctuation is distinguished by its kind
    CHECK(categories.size() == word_category_count + 1);
    CHECK_THROWS_WITH(parse_lexicon("Hund\tnoun", "lexicon.de.tsv"),
                      Catch::StartsWith("line 1 of lexicon.de.tsv"));
}

TEST_CASE("a sentence chooses its list by its own words") {
    for (const char* sentence :
         {"Der Hund schläft", "Die Katze saß auf der Matte.", "Die Hand war warm", "Das ist ein Test",
          "Kinder lernen", "Ich habe gestern ein rotes Auto gekauft", "DER HUND SCHLÄFT",
          "Das Eichhörnchen knabbert", "Der Blorf jagte", "Was war in der Hand",
          "Fischers Fritz fischt frische Fische", "Anna gab Peter ein Buch"}) {
        INFO(sentence);
        CHECK(is_german(sentence));
    }
    for (const char* sentence :
         {"The cat sat down", "Die", "die die die", "Tom was warm", "Anna lost her ribbon",
          "Hans is in the kindergarten", "blorf", "1 2 3", ".", "Le chat boit du lait chaud ce matin",
          "So long", "The wind was warm in the arm"}) {
        INFO(sentence);
        CHECK_FALSE(is_german(sentence));
    }
    std::ifstream file(test_data("/sentences.tsv"));
    for (std::string line; std::getline(file, line);) {
        INFO(line);
        CHECK_FALSE(is_german(line.substr(0, line.find('\t'))));
    }
    for (const PresetInfo& info : presets())
        CHECK_FALSE(is_german(std::string(info.sentence)));
}

TEST_CASE("German words have German classes") {
    CHECK(classes_of("Die Katze schläft") == "determiner noun verb");
    CHECK(classes_of("Der kleine Junge spielte lange im Garten .") ==
          "determiner adjective noun verb adjective preposition noun punctuation");
    CHECK(classes_of("Ich habe gestern ein rotes Auto gekauft") ==
          "pronoun auxiliary adverb determiner adjective noun verb");
    CHECK(classes_of("Die Haustür wurde leise aufgemacht") == "determiner noun auxiliary adjective verb");
    CHECK(classes_of("Der Weg ist weg") == "determiner noun auxiliary adverb"); // the capital letter decides
    CHECK(classes_of("Kleine Kinder lachten") == "adjective noun verb"); // at the beginning it does not
    CHECK(classes_of("Sie hat drei Bücher gelesen") == "pronoun auxiliary numeral noun verb");
    CHECK(classes_of("Das Blorf mag eine Zeitungsente") == "determiner noun auxiliary determiner noun");
    // The same words in an English sentence: "die" is a verb there.
    CHECK(classes_of("They die young") == "pronoun verb adjective");
}

TEST_CASE("a German sentence is read like an English one by the built heads") {
    const auto weights = weights_of(build_preset("first-lesson", "Die Katze schlief dort").problem, 0);
    CHECK(weights[0][1] > 0.5); // the article its noun
    CHECK(weights[2][1] > 0.5); // the verb its subject
    CHECK(weights[3][2] > 0.5); // the adverb its verb
    const auto subject = weights_of(build_preset("eight-experts", "Die Katze schlief dort").problem, 2);
    CHECK(subject[2][1] > 0.9);
}
