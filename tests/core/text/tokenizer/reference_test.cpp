#include "core/base/file.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using nlohmann::json;

// Every text of strings.json against what Hugging Face's own library made of it.

namespace {

const std::string tokenizers = test_data("/tokenizers/");

std::vector<std::string> texts() {
    return json::parse(read_file(tokenizers + "strings.json"));
}

json as_json(const std::vector<TextSpan>& offsets) {
    json list = json::array();
    for (const TextSpan& span : offsets)
        list.push_back({span.begin, span.end});
    return list;
}

/// The two ways to hold a vocabulary give the same tokens.
void check_same_without_json(const std::string& name, const std::vector<std::string>& files) {
    const test::TemporaryFolder copy;
    for (const std::string& file : files)
        std::filesystem::copy(tokenizers + name + "/" + file, copy.file(file));
    const auto from_json = load_tokenizer(tokenizers + name + "/tokenizer.json");
    const auto from_parts = load_tokenizer(copy.file(""));
    for (const std::string& text : texts()) {
        INFO(json(text).dump());
        const Encoding expected = from_json->encode(text), got = from_parts->encode(text);
        CHECK(got.ids == expected.ids);
        CHECK(got.offsets == expected.offsets);
        CHECK(from_parts->decode(got.ids, true) == from_json->decode(expected.ids, true));
    }
}

} // namespace

TEST_CASE("ids, tokens, offsets and decoded text are Hugging Face's", "[tokenizer]") {
    const json manifest = json::parse(read_file(tokenizers + "manifest.json"));
    const std::vector<std::string> strings = texts();
    REQUIRE(manifest["tokenizers"].size() == 5);
    for (const json& about : manifest["tokenizers"]) {
        const std::string name = about["name"];
        const auto tokenizer = load_tokenizer(tokenizers + name);
        CHECK(tokenizer->vocabulary_size() == about["vocab_size"].get<std::size_t>());
        const json cases = json::parse(read_file(tokenizers + name + "/cases.json"))["cases"];
        REQUIRE(cases.size() == strings.size());
        for (const json& expected : cases) {
            const std::string& text = strings.at(expected["i"].get<std::size_t>());
            INFO(name << ' ' << json(text).dump());
            const Encoding got = tokenizer->encode(text);
            CHECK(json(got.ids) == expected["ids"]);
            CHECK(json(got.tokens) == expected["tokens"]);
            CHECK(as_json(got.offsets) == expected["offsets"]);
            CHECK(tokenizer->decode(got.ids, true) == expected.value("decoded", text));
        }
    }
}

TEST_CASE("vocab.json with merges.txt gives what tokenizer.json gives", "[tokenizer]") {
    check_same_without_json("gpt2_like", {"vocab.json", "merges.txt", "tokenizer_config.json"});
}

TEST_CASE("vocab.txt gives what tokenizer.json gives", "[tokenizer]") {
    check_same_without_json("bert_like_uncased", {"vocab.txt", "tokenizer_config.json"});
    check_same_without_json("bert_like_uncased", {"vocab.txt"});
}

TEST_CASE("every byte that text can hold survives a byte-level tokenizer", "[tokenizer]") {
    const auto tokenizer = load_tokenizer(tokenizers + "gpt2_like");
    std::string all;
    for (char byte = 0; byte != '\x7f'; ++byte)
        all += byte;
    all += "\x7f\u0080\u009f\u00ad\ufeff\uffff\U0010ffff";
    CHECK(tokenizer->decode(tokenizer->encode(all).ids, true) == all);
}

TEST_CASE("token_text and decode know which ids there are", "[tokenizer]") {
    const auto tokenizer = load_tokenizer(tokenizers + "gpt2_like");
    CHECK(tokenizer->token_text(0) == "!");
    CHECK(tokenizer->token_text(556) == "<|endoftext|>");
    CHECK(tokenizer->token_text(557).empty());
    CHECK(tokenizer->token_text(-1).empty());
    const std::vector<TokenId> ids{0, 556, 99999, -1};
    CHECK(tokenizer->decode(ids, true) == "!");
    CHECK(tokenizer->decode(ids, false) == "!<|endoftext|>");
}
