#include "core/base/file.h"
#include "core/text/tokenizer/regex.h"
#include "core/text/tokenizer/tokenizer.h"
#include "core/text/tokenizer/unicode.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using Catch::Contains;
using nlohmann::json;

namespace {

/// The message for a reference tokenizer with one value changed.
std::string message(const std::string& name, const std::string& pointer, const json& value) {
    json description = json::parse(read_file(test_data("/tokenizers/" + name + "/tokenizer.json")));
    description[json::json_pointer(pointer)] = value;
    return input_error([&] { parse_tokenizer(description.dump(), "tokenizer.json"); });
}

} // namespace

TEST_CASE("a component that is not known is named, with those that are", "[tokenizer]") {
    const json unknown{{"type", "Unheard"}};
    for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
        const std::string sentence = message("llama3_like", std::string("/") + key, unknown);
        CHECK_THAT(sentence, Contains("tokenizer.json: " + std::string(key) + ".type is \"Unheard\""));
        CHECK_THAT(sentence, Contains("Sequence"));
    }
    CHECK_THAT(message("gpt2_like", "/model/type", "WordLevel"), Contains("only BPE, WordPiece and Unigram"));
    CHECK_THAT(message("llama3_like", "/pre_tokenizer/pretokenizers/1/type", "Bytes"),
               Contains("tokenizer.json: pre_tokenizer.pretokenizers[1].type is \"Bytes\""));
}

TEST_CASE("wrong values in a tokenizer.json are refused with file and key", "[tokenizer]") {
    const auto [name, pointer, value,
                expected] = GENERATE(table<std::string, std::string, json, std::string>({
        {"gpt2_like", "/model", 3, "tokenizer.json: model is 3; it should be an object"},
        {"gpt2_like", "/model/vocab", json::array(), "model.vocab"},
        {"gpt2_like", "/model/vocab/!", -1, "model.vocab[\"!\"] is -1"},
        {"gpt2_like", "/model/vocab/!", 4294967296, "model.vocab[\"!\"]"},
        {"gpt2_like", "/model/vocab/!", 0.5, "model.vocab[\"!\"]"},
        {"gpt2_like", "/model/merges", "a b", "model.merges"},
        {"gpt2_like", "/model/merges/0", "abc", "model.merges[0] is \"abc\""},
        {"gpt2_like", "/model/merges/0", "zq zq", "should be in vocab"},
        {"gpt2_like", "/model/merges/0", json{"a", 1}, "model.merges[0]"},
        {"gpt2_like", "/model/unk_token", "none", "model.unk_token is \"none\""},
        {"gpt2_like", "/model/byte_fallback", 1, "model.byte_fallback is 1"},
        {"gpt2_like", "/added_tokens", 7, "added_tokens is 7"},
        {"gpt2_like", "/added_tokens/0", json::object(), "added_tokens[0] has no \"id\""},
        {"gpt2_like", "/added_tokens/0/id", 2147483648, "added_tokens[0].id"},
        {"bert_like_uncased", "/model/unk_token", "none", "unk_token"},
        {"bert_like_uncased", "/model/max_input_chars_per_word", -1, "max_input_chars_per_word"},
        {"bert_like_uncased", "/post_processor/special_tokens", json::object(), "[CLS]"},
        {"bert_like_uncased", "/post_processor/single", 1, "post_processor.single"},
        {"llama3_like", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "(",
         "not a valid regular expression"},
        {"llama3_like", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "[a&&",
         "not a valid regular expression"},
        {"llama3_like", "/pre_tokenizer/pretokenizers/0/behavior", "Cut", "behavior is \"Cut\""},
        {"llama2_like", "/decoder/decoders/3/content", "", "one character"},
        {"t5_like", "/model/vocab", json::object(), "model.vocab is an object of 0; it should be a list"},
        {"t5_like", "/model/vocab/3", "a", "model.vocab[3] is \"a\"; it should be a token and its score"},
        {"t5_like", "/model/vocab/3", json{"a", -1, 0}, "model.vocab[3] is a list of 3"},
        {"t5_like", "/model/vocab/3", json{-1, "a"}, "model.vocab[3]"},
        {"t5_like", "/model/vocab/3/1", nullptr, "model.vocab[3]"},
        {"t5_like", "/model/unk_id", 393, "model.unk_id is 393; it should be a whole number from 0 to 392"},
        {"t5_like", "/model/unk_id", -1, "model.unk_id is -1"},
        {"t5_like", "/model/byte_fallback", "yes", "model.byte_fallback"},
        {"gpt2_like", "/model/type", "Unigram", "model.vocab is an object of 557; it should be a list"},
    }));
    INFO(pointer);
    CHECK_THAT(message(name, pointer, value), Contains(expected));
}

TEST_CASE("what is no tokenizer at all is refused", "[tokenizer]") {
    for (const char* text :
         {"", "[]", "{}", "3", "{\"model\":null}", "{\"model\":{}}", "{\"model\":{\"type\":\"BPE\"}}"})
        CHECK_THAT(input_error([&] { parse_tokenizer(text, "t.json"); }), Contains("t.json"));
    const test::TemporaryFolder empty;
    CHECK_THAT(input_error([&] { load_tokenizer(empty.file("")); }), Contains("no tokenizer.json"));
    CHECK_THAT(input_error([&] { load_tokenizer(empty.file("absent.json")); }), Contains("absent.json"));
}

TEST_CASE("a text that is no UTF-8 and a pattern without end are refused", "[tokenizer]") {
    const auto tokenizer = load_tokenizer(test_data("/tokenizers/gpt2_like"));
    CHECK_THAT(input_error([&] { tokenizer->encode("ab\xff"); }), Contains("byte 2"));
    std::string never_matching(40, 'a');
    never_matching += 'b';
    CHECK_THAT(input_error([&] { Regex("(a+)+$", "here").find_all(never_matching); }), Contains("here"));
}

TEST_CASE("a pattern nested without end is refused", "[tokenizer]") {
    for (const std::string open : {"(", "(?:", "(?=", "(?>", "(?i:", "(?:a|", "(?:b+", "[^[", "(?<n>"})
        for (const int levels : {1000, 4000, 100'000}) {
            std::string pattern;
            for (int level = 0; level < levels; ++level)
                pattern += open;
            pattern += 'a';
            for (int level = 0; level < levels; ++level)
                pattern += open.starts_with('[') ? "]]" : ")";
            const std::string sentence =
                input_error([&] { Regex(pattern, "here").find_all(std::string(50, 'a')); });
            INFO(open << ' ' << levels);
            CHECK_THAT(sentence, Contains("here"));
            CHECK(sentence.size() < 400);
        }
}

TEST_CASE("a long run of blanks takes no more steps and no more memory than a pattern may", "[tokenizer]") {
    constexpr const char* llama3 =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    constexpr std::size_t size = 6'000'000;
    std::string text(size, ' ');
    text += 'x';
    CHECK(Regex(llama3, "here").find_all(text) ==
          std::vector<ByteRange>{{0, size - 1}, {size - 1, size + 1}});
}

TEST_CASE("patterns mean what they mean in Oniguruma", "[tokenizer]") {
    using Matches = std::vector<std::string>;
    const auto found = [](const char* pattern, std::string_view text) {
        Matches matches;
        for (const ByteRange& range : Regex(pattern, "here").find_all(text))
            matches.emplace_back(text.substr(range.begin, range.end - range.begin));
        return matches;
    };
    CHECK(found("\\s", "\u180e\u0085\u3000") == Matches{"\u0085", "\u3000"});
    CHECK(found("[^\\s]+", "a\u180e b") == Matches{"a\u180e", "b"});
    CHECK(found("\\w+", "e\u0301_\u203f-x") == Matches{"e\u0301_\u203f", "x"});
    CHECK(found("\\h+", "xyz12Fg") == Matches{"12F"});
    CHECK(found("\\d{1,3}+", "12345") == Matches{"12345"});
    CHECK(found("^b$", "a\nb\nc") == Matches{"b"});
    CHECK(found("x*", "axb") == Matches{"", "x", ""});
    CHECK(found("(?i:'S)", "'s'\u017f") == Matches{"'s", "'\u017f"});
    CHECK(found("(?i:ss)", "\u00dfSs") == Matches{"\u00df", "Ss"});
    CHECK(found("\\b.", "e\u0301a \u203fb") == Matches{"e", " ", "\u203f"});
    CHECK(found("(?m:a.b)", "a\nb") == Matches{"a\nb"});
    CHECK(found("a{,2}", "aaa") == Matches{"aa", "a"});
    CHECK(found("[a-z&&[^aeiou]]+", "hello") == Matches{"h", "ll"});
    CHECK(found("[[a-c]\\W]+", "ab!xz") == Matches{"ab!"});
}

TEST_CASE("bytes that are no UTF-8 become one mark for each maximal part", "[tokenizer]") {
    // Table 3-8 of the Unicode standard, version 15.
    const std::string mark = "\uFFFD";
    CHECK(to_utf8_lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
                        "A") == mark + mark + mark + mark + mark + mark + mark + mark + "A");
    CHECK(to_utf8_lossy("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
                        "A") == mark + mark + mark + mark + "A");
}
