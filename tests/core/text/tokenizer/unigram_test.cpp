#include "core/base/file.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using Catch::Contains;
using nlohmann::json;

namespace {

std::unique_ptr<Tokenizer> from_description(const json& description) {
    return parse_tokenizer(description.dump(), "tokenizer.json");
}

/// A vocabulary of these, each with the score -1.
json pieces(const std::vector<std::string>& texts) {
    json list = json::array();
    for (const std::string& text : texts)
        list.push_back(json::array({text, -1}));
    return list;
}

std::string base64(const std::string& bytes) {
    std::string bits, text;
    for (const char byte : bytes)
        for (int bit = 7; bit >= 0; --bit)
            bits += (static_cast<unsigned char>(byte) >> bit & 1) != 0 ? '1' : '0';
    for (std::size_t at = 0; at < bits.size(); at += 6) {
        const std::size_t index = std::stoul((bits.substr(at, 6) + "00000").substr(0, 6), nullptr, 2);
        text += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[index];
    }
    return text.append((4 - text.size() % 4) % 4, '=');
}

std::string little_endian(std::uint32_t value) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(value >> shift & 0xFFU);
    return bytes;
}

constexpr std::uint32_t letter = 'a', has_value = 0x100, is_value = 0x80000000U;
constexpr std::uint32_t offset_unit = 1U << 10U;

/// A charsmap with a trie of 128 units, all 0 except those given.
std::string charsmap(const std::map<std::size_t, std::uint32_t>& units, const std::string& replacements) {
    constexpr std::size_t size = 128;
    std::string bytes = little_endian(4 * size);
    for (std::size_t at = 0; at < size; ++at)
        bytes += little_endian(units.contains(at) ? units.at(at) : 0);
    return bytes + replacements;
}

json with_charsmap(const std::string& map) {
    return {{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", pieces({"?", "b"})}}},
            {"normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", map}}}};
}

std::string message(const json& description) {
    return input_error([&] { from_description(description); });
}

} // namespace

TEST_CASE("Unigram tokenizers of many kinds make Hugging Face's tokens", "[tokenizer][unigram]") {
    for (const json& about : json::parse(read_file(test_data("/tokenizers/unigram.json")))) {
        const auto tokenizer = from_description(about["tokenizer"]);
        for (const json& expected : about["cases"]) {
            INFO(about["name"] << ' ' << expected[0].dump());
            const Encoding got = tokenizer->encode(expected[0].get<std::string>());
            CHECK(json(got.ids) == expected[1]);
            CHECK(json(got.tokens) == expected[2]);
            CHECK(json(tokenizer->decode(got.ids, true)) == expected[3]);
        }
    }
}

TEST_CASE("a long Unigram word is cut whole", "[tokenizer][unigram]") {
    json vocab = pieces({"<unk>", "a"});
    for (const int size : {2, 3, 50})
        vocab.push_back(json::array({std::string(static_cast<std::size_t>(size), 'a'), -0.9 * size}));
    const auto tokenizer =
        from_description({{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}}}});
    const Encoding got = tokenizer->encode(std::string(100'000, 'a') + std::string(100'000, 'x'));
    CHECK(got.tokens.back().size() == 100'000);
    CHECK(got.offsets.back() == TextSpan{100'000, 200'000});
}

TEST_CASE("without an unknown token an unknown character is named", "[tokenizer][unigram]") {
    const auto tokenizer = from_description({{"model", {{"type", "Unigram"}, {"vocab", pieces({"a"})}}}});
    CHECK(tokenizer->encode("aa").ids == std::vector<TokenId>{0, 0});
    CHECK_THAT(input_error([&] { tokenizer->encode("a\u4e16"); }),
               Contains("no token for the character \"\u4e16\" (U+4E16)"));
    CHECK_THAT(message({{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", json::array()}}}}),
               Contains("model.unk_id is 0"));
}

TEST_CASE("a charsmap replaces what begins with a key", "[tokenizer][unigram]") {
    const std::map<std::size_t, std::uint32_t> units{
        {letter, (letter ^ 1U) * offset_unit | has_value | letter}, {1, is_value}};
    const auto tokenizer = from_description(with_charsmap(base64(charsmap(units, {"bb\0", 3}))));
    const Encoding got = tokenizer->encode("xa\u0301a\u0301\u0301\u0301");
    CHECK(got.tokens == std::vector<std::string>{"x", "b", "b", "b", "b", "\u0301\u0301\u0301"});
    CHECK(got.offsets == std::vector<TextSpan>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 4}, {4, 7}});
}

TEST_CASE("a charsmap that cannot be right is refused", "[tokenizer][unigram]") {
    const auto [bytes, expected] = GENERATE(table<std::string, std::string>({
        {"", "its 0 bytes should hold the length of a trie"},
        {"abc", "its 3 bytes"},
        {little_endian(0), "its 4 bytes"},
        {little_endian(8) + little_endian(0), "its 8 bytes"},
        {little_endian(3) + little_endian(0), "its 8 bytes"},
        {charsmap({{letter, letter * offset_unit | letter}}, ""), "leads from unit 97 back to unit 97"},
        {charsmap({{letter, 999U * offset_unit | letter}}, ""), "128 units points outside at unit 97"},
        {charsmap({{0, 999U * offset_unit}}, ""), "points outside at unit 0"},
        {charsmap({{letter, (letter ^ 1U) * offset_unit | has_value | letter}, {1, is_value | 4U}},
                  {"bb\0", 3}),
         "a replacement at byte 4 of 3"},
        {charsmap({{letter, (letter ^ 1U) * offset_unit | has_value | letter}, {1, is_value | 1U}}, "\u00e9"),
         "a replacement at byte 1 of 2"},
        {charsmap({}, "\xC3"), "its replacements should be UTF-8"},
    }));
    CHECK_THAT(message(with_charsmap(base64(bytes))),
               Contains("normalizer.precompiled_charsmap is ") && Contains(expected));
    for (const char* text : {"A", "AAA", "AA==A", "A!AA", "===="})
        CHECK_THAT(message(with_charsmap(text)), Contains("it should be base64"));
}
