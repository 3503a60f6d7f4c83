#include "core/text/lexicon.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/text/random_numbers.h"
#include "core/text/words.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <set>

using namespace headscope;
using namespace headscope::text;

namespace {

std::string class_of(std::string_view word) {
    return std::string(word_class_names()[static_cast<std::size_t>(look_up(word).word_class)].english);
}

std::string category_of(std::string_view word) {
    const int category = look_up(word).category;
    return category < 0 ? "-"
                        : std::string(word_category_names()[static_cast<std::size_t>(category)].english);
}

} // namespace

TEST_CASE("the lexicon parses, has no word twice, and uses every class, category and band") {
    const auto lines = parse_lexicon(asset("lexicon.tsv"));
    CHECK(lines.size() > 500);
    std::set<WordClass> classes;
    std::set<int> categories;
    std::set<int> bands;
    for (const auto& line : lines) {
        INFO(line.word);
        CHECK(line.entry.word_class != WordClass::unknown);
        CHECK(look_up(line.word) == line.entry);
        CHECK(split_words(line.word).size() == 1);
        classes.insert(line.entry.word_class);
        categories.insert(line.entry.category);
        bands.insert(line.entry.band);
    }
    CHECK(classes.size() == word_class_count - 1);
    CHECK(categories.size() == word_category_count + 1);
    CHECK(bands == std::set<int>{0, 1, 2, 3, 4});
}

TEST_CASE("a damaged lexicon is refused with its line") {
    for (const char* text :
         {"cat\tnoun\tanimal", "cat\tnoun\tanimal\t5", "cat\tnoun\tanimal\t1\t2", "cat\tthing\tanimal\t1",
          "cat\tnoun\tpet\t1", "\tnoun\tanimal\t1", "cat\tnoun\tanimal\t1\r", "Dog\tnoun\tanimal\t1", "\n"}) {
        INFO(text);
        CHECK_THROWS_WITH(parse_lexicon("# words\ndog\tnoun\tanimal\t1\n" + std::string(text) + "\n"),
                          Catch::StartsWith("line 3 of lexicon.tsv"));
    }
}

TEST_CASE("words are found without regard to case") {
    CHECK(class_of("CAT") == "noun");
    CHECK(category_of("Cat") == "animal");
    CHECK(class_of("Didn’t") == "auxiliary");
    CHECK(class_of("sat") == "verb");
    CHECK(class_of("DOWN") == "particle");
}

TEST_CASE("unlisted words are read by the documented rules") {
    CHECK(class_of("cat's") == "determiner");
    CHECK(class_of("dogs'") == "determiner");
    CHECK(class_of("teapots") == "unknown");
    CHECK(class_of("puppys") == "noun");
    CHECK(class_of("crawled") == "verb");
    CHECK(class_of("polishing") == "verb");
    CHECK(class_of("happier") == "adjective");
    CHECK(class_of("saddest") == "adjective");
    CHECK(class_of("brightly") == "adverb");
    CHECK(class_of("blorfly") == "adverb");
    CHECK(class_of("blorfness") == "noun");
    CHECK(class_of("blorfous") == "adjective");
    CHECK(class_of("blorfing") == "verb");
    CHECK(class_of("1984") == "numeral");
    CHECK(class_of("half-brother") == "noun");
    CHECK(class_of("§") == "punctuation");
    CHECK(class_of("😀") == "unknown");
    CHECK(class_of("猫") == "unknown");
    CHECK(class_of("blorf") == "unknown");
    CHECK(class_of("s") == "unknown");
    CHECK(class_of("") == "unknown");
    CHECK(look_up("blorf") == WordEntry{WordClass::unknown, -1, rarest_band});
}

TEST_CASE("splitmix64 gives the numbers of its published reference") {
    RandomNumbers numbers(1234567);
    for (const std::uint64_t expected : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                         4593380528125082431U, 16408922859458223821U})
        CHECK(numbers.next() == expected);
}

TEST_CASE("a word's vector depends on its letters and the seed alone") {
    const auto vector = word_vector("blorf", 16, 1);
    CHECK(vector == word_vector("BLORF", 16, 1));
    CHECK(vector != word_vector("blorg", 16, 1));
    CHECK(vector != word_vector("blorf", 16, 2));
    CHECK(std::ranges::all_of(vector, [](float v) { return v >= -1 && v < 1; }));
    const auto shorter = word_vector("blorf", 4, 1);
    CHECK(std::equal(shorter.begin(), shorter.end(), vector.begin()));
}
