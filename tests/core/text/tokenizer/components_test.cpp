#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using nlohmann::json;

// Each component by itself. A tokenizer whose words are all unknown shows what reaches the model: the offsets
// of its words. The expected values follow the documentation of Hugging Face's library and its own unit
// tests.

namespace {

using Words = std::vector<std::string>;

/// A tokenizer whose vocabulary holds only these words.
json word_list(const Words& words) {
    json vocab{{"?", 0}};
    for (const std::string& word : words)
        if (!vocab.contains(word))
            vocab[word] = vocab.size();
    return {
        {"model",
         {{"type", "WordPiece"}, {"vocab", vocab}, {"unk_token", "?"}, {"max_input_chars_per_word", 1000}}}};
}

std::unique_ptr<Tokenizer> build(const json& description) {
    return parse_tokenizer(description.dump(), "tokenizer.json");
}

/// The words that reach the model, which knows just these.
void check_words(const json& pre_tokenizer, const std::string& text, const Words& expected) {
    INFO(pre_tokenizer.dump() << ' ' << json(text).dump());
    json description = word_list(expected);
    description["pre_tokenizer"] = pre_tokenizer;
    CHECK(build(description)->encode(text).tokens == expected);
}

void check_normalized(const json& normalizer, const std::string& text, const std::string& expected) {
    INFO(normalizer.dump() << ' ' << json(text).dump());
    json description = word_list({expected});
    description["normalizer"] = normalizer;
    CHECK(build(description)->encode(text).tokens == (expected.empty() ? Words{} : Words{expected}));
}

std::string decoded(const json& decoder, const Words& tokens) {
    json description = word_list(tokens);
    description["decoder"] = decoder;
    std::vector<TokenId> ids;
    for (const std::string& token : tokens)
        ids.push_back(description["model"]["vocab"][token]);
    return build(description)->decode(ids, false);
}

json split(const std::string& behavior, bool invert = false) {
    return {{"type", "Split"}, {"pattern", {{"String", "-"}}}, {"behavior", behavior}, {"invert", invert}};
}

} // namespace

TEST_CASE("a split does with its matches what its behaviour says", "[tokenizer]") {
    const std::string text = "the-final--countdown";
    check_words(split("Removed"), text, {"the", "final", "countdown"});
    check_words(split("Isolated"), text, {"the", "-", "final", "-", "-", "countdown"});
    check_words(split("MergedWithPrevious"), text, {"the-", "final-", "-", "countdown"});
    check_words(split("MergedWithNext"), text, {"the", "-final", "-", "-countdown"});
    check_words(split("Contiguous"), text, {"the", "-", "final", "--", "countdown"});
    check_words(split("Removed", true), text, {"-", "-", "-"});
}

TEST_CASE("pre-tokenizers cut where Hugging Face's cut", "[tokenizer]") {
    check_words({{"type", "Whitespace"}}, "Hey man!! \u0645\u0627 e\u0301x",
                {"Hey", "man", "!!", "\u0645\u0627", "e\u0301x"});
    check_words({{"type", "WhitespaceSplit"}}, "Hey\u00a0man!\n ok", {"Hey", "man!", "ok"});
    check_words({{"type", "BertPreTokenizer"}}, "Hey, \u00bfman?!", {"Hey", ",", "\u00bf", "man", "?", "!"});
    check_words({{"type", "Digits"}, {"individual_digits", true}}, "a123\u00bd",
                {"a", "1", "2", "3", "\u00bd"});
    check_words({{"type", "Digits"}}, "a123b", {"a", "123", "b"});
    check_words({{"type", "Punctuation"}}, "a$!b", {"a", "$", "!", "b"});
    check_words({{"type", "Punctuation"}, {"behavior", "Contiguous"}}, "a$!b", {"a", "$!", "b"});
    check_words({{"type", "ByteLevel"}, {"add_prefix_space", true}}, "it's \u00e9",
                {"\u0120it", "'s", "\u0120\u00c3\u00a9"});
    check_words({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}, "a b",
                {"a\u0120b"});
    check_words(
        {{"type", "Split"}, {"pattern", {{"Regex", "\\s+(?!\\S)|\\d{1,3}"}}}, {"behavior", "Isolated"}},
        "a  b1234", {"a", " ", " b", "123", "4"});
    check_words(
        {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, {{"type", "Punctuation"}}}}},
        "a b.c", {"a", "b", ".", "c"});
}

TEST_CASE("Metaspace marks blanks and the beginning", "[tokenizer]") {
    const auto scheme = [](const char* name) {
        return json{{"type", "Metaspace"}, {"prepend_scheme", name}};
    };
    check_words(scheme("always"), "Hey  you", {"\u2581Hey", "\u2581", "\u2581you"});
    check_words(scheme("first"), "Hey you", {"\u2581Hey", "\u2581you"});
    check_words(scheme("never"), "Hey you", {"Hey", "\u2581you"});
    check_words({{"type", "Metaspace"}, {"replacement", "_"}, {"split", false}}, "Hey you", {"_Hey_you"});
    json description = word_list({"\u2581a", "a"});
    description["pre_tokenizer"] = scheme("first");
    description["added_tokens"] = {{{"id", 9}, {"content", "<x>"}, {"special", true}}};
    CHECK(build(description)->encode("a<x>a").tokens == Words{"\u2581a", "<x>", "a"});
}

TEST_CASE("normalizers rewrite as Unicode says", "[tokenizer]") {
    check_normalized({{"type", "NFC"}}, "e\u0301\u0323 \u1100\u1161\u11a8", "\u1eb9\u0301 \uac01");
    check_normalized({{"type", "NFD"}}, "\u1e69\uac01", "s\u0323\u0307\u1100\u1161\u11a8");
    check_normalized({{"type", "NFKC"}}, "\ufb01\u2460\uff21", "fi1A");
    check_normalized({{"type", "NFKD"}}, "\ufb01\u00e9", "fie\u0301");
    check_normalized({{"type", "Lowercase"}}, "\u00c4\u0130\u03a3", "\u00e4i\u0307\u03c3");
    check_normalized({{"type", "StripAccents"}}, "e\u0301a", "ea");
    check_normalized({{"type", "Strip"}}, " \u00a0a b \n", "a b");
    check_normalized({{"type", "Strip"}, {"strip_left", false}}, " a ", " a");
    check_normalized({{"type", "Strip"}}, " \n ", "");
    check_normalized({{"type", "Prepend"}, {"prepend", "_"}}, "a", "_a");
    check_normalized({{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", "_"}}, "a \u0085 b",
                     "a_b");
    check_normalized({{"type", "Replace"}, {"pattern", {{"String", "."}}}, {"content", ""}}, "a.b.", "ab");
    check_normalized({{"type", "Nmt"}}, "\u0001a\u008f\u200b\u2581\u0085b\u007f\v\f", "a  \u0085b ");
    check_normalized({{"type", "BertNormalizer"}}, std::string("\u00c9\0\u200d\u4e16", 9), "e \u4e16 ");
    check_normalized({{"type", "BertNormalizer"}, {"lowercase", false}}, "\u00c9", "\u00c9");
    check_normalized({{"type", "BertNormalizer"}, {"lowercase", false}, {"strip_accents", true}}, "\u00c9",
                     "E");
}

TEST_CASE("offsets go back through the normalizer to the text", "[tokenizer]") {
    json description = word_list({});
    description["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
    description["normalizer"] = {{"type", "NFKD"}};
    // The ligature is one character of the text and three of the normalized one.
    CHECK(build(description)->encode("\ufb03 \u00e9 x").offsets ==
          std::vector<TextSpan>{{0, 1}, {2, 3}, {4, 5}});
}

TEST_CASE("decoders put tokens together", "[tokenizer]") {
    CHECK(decoded(nullptr, {"a", "b"}) == "a b");
    CHECK(decoded({{"type", "WordPiece"}}, {"a", "##b", "c", "n't", ",", "!"}) == "ab cn't,!");
    CHECK(decoded({{"type", "WordPiece"}, {"cleanup", false}}, {"a", "##b", ","}) == "ab ,");
    CHECK(decoded({{"type", "Metaspace"}}, {"\u2581a", "\u2581b"}) == "a b");
    CHECK(decoded({{"type", "ByteFallback"}}, {"<0xE2>", "<0x82>", "<0xAC>", "x", "<0xE2>", "<0x8g>"}) ==
          "\u20acx\ufffd<0x8g>");
    CHECK(decoded({{"type", "ByteLevel"}}, {"\u0120\u00c3", "\u00a9", "\u00c3"}) == " \u00e9\ufffd");
    CHECK(decoded({{"type", "Fuse"}}, {"a", "b"}) == "ab");
    CHECK(decoded({{"type", "Strip"}, {"content", "_"}, {"start", 1}, {"stop", 2}}, {"__a___"}) == "_a_");
}

TEST_CASE("BPE merges by rank, then from the left", "[tokenizer]") {
    const json model{{"type", "BPE"},
                     {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}, {"aa", 5}, {"<u>", 6}}},
                     {"merges", {"b c", "a b", "a a"}}};
    CHECK(build({{"model", model}})->encode("abcabaaa").tokens == Words{"a", "bc", "ab", "aa", "a"});
    // Characters that are neither a token nor made of byte tokens are left out if there is no unknown token.
    CHECK(build({{"model", model}})->encode("axa").offsets == std::vector<TextSpan>{{0, 3}});
    json unknown = model;
    unknown["unk_token"] = "<u>";
    CHECK(build({{"model", unknown}})->encode("xyab").tokens == Words{"<u>", "<u>", "ab"});
    unknown["fuse_unk"] = true;
    CHECK(build({{"model", unknown}})->encode("xyab").tokens == Words{"<u>", "ab"});
    json affixes{{"type", "BPE"},
                 {"vocab", {{"a", 0}, {"#b", 1}, {"#c.", 2}, {"ab", 3}, {"abc.", 4}}},
                 {"merges", json::array({json::array({"a", "#b"}), json::array({"ab", "#c."})})},
                 {"continuing_subword_prefix", "#"},
                 {"end_of_word_suffix", "."}};
    CHECK(build({{"model", affixes}})->encode("abc").tokens == Words{"abc."});
}

TEST_CASE("added tokens are found as their options say", "[tokenizer]") {
    json description = word_list({"x", "a", "ab"});
    description["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
    const auto tokens = [&](const json& options, const std::string& text) {
        json list = json::array({{{"id", 50}, {"content", "<m>"}}, {{"id", 51}, {"content", "<m>m"}}});
        list[0].update(options);
        json with_tokens = description;
        with_tokens["added_tokens"] = list;
        return build(with_tokens)->encode(text).tokens;
    };
    CHECK(tokens(json::object(), "x<m>mx") == Words{"x", "<m>m", "x"});
    CHECK(tokens(json::object(), "a <m> x") == Words{"a", "<m>", "x"});
    CHECK(tokens({{"lstrip", true}}, "a <m> x") == Words{"a", " <m>", "x"});
    CHECK(tokens({{"rstrip", true}}, "a <m> x") == Words{"a", "<m> ", "x"});
    CHECK(tokens({{"single_word", true}}, "a<m> x") == Words{"?", "x"});
    CHECK(tokens({{"single_word", true}}, "a <m>.") == Words{"a", "<m>", "?"});
    const auto with = [&](const json& list) {
        json with_tokens = description;
        with_tokens["added_tokens"] = list;
        return build(with_tokens);
    };
    // Ids count on from the vocabulary, whatever the file says; a token of the vocabulary keeps its own.
    const auto numbered = with({{{"id", 50}, {"content", "<m>"}},
                                {{"id", 60}, {"content", "a"}},
                                {{"id", 70}, {"content", "<n>"}},
                                {{"id", 80}, {"content", "<m>"}}});
    CHECK(numbered->encode("<m>a<n>").ids == std::vector<TokenId>{4, 2, 5});
    CHECK(numbered->token_text(5) == "<n>");
    // A blank that one token took is found by the next token all the same.
    CHECK(with({{{"id", 4}, {"content", "<m>"}, {"rstrip", true}}, {{"id", 5}, {"content", "  "}}})
              ->encode("<m>  x")
              .tokens == Words{"<m>  ", "  ", "x"});
    description["normalizer"] = {{"type", "Lowercase"}};
    CHECK(tokens({{"normalized", true}}, "<M>") == Words{"<m>"});
    CHECK(tokens({{"normalized", false}}, "<M>") == Words{"?"});
}

TEST_CASE("post-processors add tokens and trim offsets", "[tokenizer]") {
    json description = word_list({"\u0120a", "\u0120b"});
    description["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
    description["post_processor"] = {
        {"type", "RobertaProcessing"}, {"cls", {"<s>", 7}}, {"sep", {"</s>", 8}}, {"add_prefix_space", true}};
    const Encoding roberta = build(description)->encode("a b");
    CHECK(roberta.tokens == Words{"<s>", "\u0120a", "\u0120b", "</s>"});
    CHECK(roberta.offsets == std::vector<TextSpan>{{0, 0}, {0, 1}, {2, 3}, {0, 0}});
    description["post_processor"]["type"] = "BertProcessing";
    CHECK(build(description)->encode("a b").offsets == std::vector<TextSpan>{{0, 0}, {0, 1}, {1, 3}, {0, 0}});
}
