#include "core/text/words.h"

#include "core/base/error.h"
#include "tests/catch.h"

#include <string>
#include <vector>

using namespace headscope;
using namespace headscope::text;

namespace {

using Texts = std::vector<std::string>;

Texts texts(std::string_view sentence) {
    Texts out;
    for (const Word& word : split_words(sentence))
        out.push_back(word.text);
    return out;
}

std::string refused_sentence(std::string_view sentence) {
    try {
        split_words(sentence);
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("words and marks are told apart") {
    CHECK(texts("The cat sat down.") == Texts{"The", "cat", "sat", "down", "."});
    CHECK(texts("  \"Well-known\", isn't it?  ") == Texts{"\"", "Well-known", "\"", ",", "isn't", "it", "?"});
    CHECK(texts("didn’t rock ’n’ roll") == Texts{"didn’t", "rock", "’", "n", "’", "roll"});
    CHECK(texts("a--b -c d-") == Texts{"a", "-", "-", "b", "-", "c", "d", "-"});
    CHECK(texts("room 42b, 3.14 €") == Texts{"room", "42b", ",", "3", ".", "14", "€"});
    const auto words = split_words("Hi, 😀");
    REQUIRE(words.size() == 3);
    CHECK_FALSE(words[0].punctuation);
    CHECK(words[1].punctuation);
    CHECK_FALSE(words[2].punctuation);
}

TEST_CASE("words of many scripts hold together") {
    CHECK(texts("Die Katze schläft.") == Texts{"Die", "Katze", "schläft", "."});
    CHECK(texts("Кот сидел") == Texts{"Кот", "сидел"});
    CHECK(texts("η γάτα κάθισε") == Texts{"η", "γάτα", "κάθισε"});
    CHECK(texts("القطة جلست") == Texts{"القطة", "جلست"});
    CHECK(texts("הַחָתוּל ישב") == Texts{"הַחָתוּל", "ישב"});
    CHECK(texts("बिल्ली बैठ गई") == Texts{"बिल्ली", "बैठ", "गई"});
    CHECK(texts("고양이가 앉았다") == Texts{"고양이가", "앉았다"});
    CHECK(texts("แมวนั่ง ลง") == Texts{"แมวนั่ง", "ลง"});
    CHECK(texts("猫が座る。") == Texts{"猫", "が", "座", "る", "。"});
    CHECK(texts("ab猫cd") == Texts{"ab", "猫", "cd"});
    CHECK(texts("𝔊𝔬𝔱𝔥 𐌰𐌱") == Texts{"𝔊𝔬𝔱𝔥", "𐌰𐌱"});
}

TEST_CASE("text is composed and byte ranges point into the sentence as given") {
    const std::string sentence = "cafe\xCC\x81 fin";
    const auto words = split_words(sentence);
    REQUIRE(words.size() == 2);
    CHECK(words[0].text == "caf\xC3\xA9");
    CHECK(sentence.substr(words[0].begin, words[0].end - words[0].begin) == "cafe\xCC\x81");
    CHECK(sentence.substr(words[1].begin, words[1].end - words[1].begin) == "fin");
    CHECK(texts("\xCC\x81 x") == Texts{"\xCC\x81", "x"});
    CHECK(texts("a \xCC\x81 b") == Texts{"a", "\xCC\x81", "b"});
}

TEST_CASE("an emoji stands alone with everything that belongs to it") {
    CHECK(texts("cat😀😀dog") == Texts{"cat", "😀", "😀", "dog"});
    CHECK(texts("👩‍👩‍👧 ok") == Texts{"👩‍👩‍👧", "ok"});
    CHECK(texts("👍🏽👍") == Texts{"👍🏽", "👍"});
    CHECK(texts("🇫🇷🇩🇪") == Texts{"🇫🇷", "🇩🇪"});
}

TEST_CASE("control characters separate and invisible ones leave no word of their own") {
    using namespace std::string_view_literals;
    CHECK(texts("a\0b\x01"
                "c\nd\te"sv) == Texts{"a", "b", "c", "d", "e"});
    CHECK(texts("\xEF\xBB\xBFThe cat") == Texts{"The", "cat"});
    CHECK(texts("\xE2\x80\x8F cat \xE2\x80\x8E") == Texts{"cat"});
    CHECK(texts("soft\xC2\xADhyphen") == Texts{"soft\xC2\xADhyphen"});
    CHECK(texts("a\xC2\xA0"
                "b\xE3\x80\x80"
                "c\xE2\x80\xA8"
                "d") == Texts{"a", "b", "c", "d"});
}

TEST_CASE("a sentence without a word is refused") {
    for (const char* sentence : {"", "   ", "\n\t\r", "\xE2\x80\x8F"}) {
        INFO("[" << sentence << "]");
        CHECK_THAT(refused_sentence(sentence), Catch::Contains("has no word"));
    }
}

TEST_CASE("malformed UTF-8 is refused with its place, wherever it stands") {
    const std::vector<std::string> faults = {
        "\x80", "\xBF",         "\xC0\xAF",         "\xC1\xBF",     "\xF5\x80\x80\x80",
        "\xFF", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xC3", "\xE2\x82",     "\xF0\x9F\x98"};
    for (const auto& fault : faults)
        for (const auto& before : {std::string(), std::string("cat "), std::string("schlä")})
            for (const auto& after : {std::string(), std::string(" dog"), std::string("é")}) {
                INFO("fault of " << fault.size() << " bytes between \"" << before << "\" and \"" << after
                                 << "\"");
                CHECK_THAT(refused_sentence(before + fault + after),
                           Catch::Contains("byte " + std::to_string(before.size()) + " "));
            }
    CHECK_THAT(refused_sentence("ab\xC3("), Catch::Contains("(0xC3)"));
}

TEST_CASE("limits of size are told with what was given") {
    std::string many;
    for (std::size_t i = 0; i < max_words; ++i)
        many += "w ";
    CHECK(split_words(many).size() == max_words);
    CHECK_THAT(refused_sentence(many + "w"), Catch::Contains("4096"));
    for (std::size_t i = max_words; i < 10'000; ++i)
        many += "w ";
    CHECK_THAT(refused_sentence(many), Catch::Contains("4096"));

    CHECK(split_words(std::string(max_word_code_points, 'x')).size() == 1);
    CHECK_THAT(refused_sentence("a " + std::string(5000, 'x')),
               Catch::Contains("5000") && Catch::Contains("byte 2 "));
    std::string marks = "a";
    for (int i = 0; i < 2000; ++i)
        marks += "\xCC\x81";
    CHECK_THAT(refused_sentence(marks), Catch::Contains("2001"));
}
