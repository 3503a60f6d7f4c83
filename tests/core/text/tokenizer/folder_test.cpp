#include "core/base/file.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

// The small files in the folder of a vocabulary: the kind of tokenizer, and its special tokens.

namespace {

const std::string vocabularies = test_data("/tokenizers/");
using IdList = std::vector<TokenId>;

/// A folder to which a test adds files.
class TokenizerFolder {
public:
    explicit TokenizerFolder(const std::string& of, const std::vector<std::string>& files) {
        for (const std::string& file : files)
            std::filesystem::copy(vocabularies + of + "/" + file, folder_.file(file));
    }
    void write(const std::string& file, const json& content) {
        write_file_atomically(folder_.file(file), content.dump());
    }
    IdList ids(const std::string& text) const { return load_tokenizer(folder_.file(""))->encode(text).ids; }
    std::string fault() const {
        return input_error([&] { load_tokenizer(folder_.file("")); });
    }
    std::string problem() const { return unsupported_tokenizer_reason(folder_.file("")); }

private:
    TemporaryFolder folder_;
};

/// GPT-2's vocabulary with the special tokens of RoBERTa: <s> is 557, </s> 558, <unk> 559, <pad> 560, <mask>
/// 561.
void add_roberta_tokens(TokenizerFolder& folder) {
    json vocab = json::parse(read_file(vocabularies + "gpt2_like/vocab.json"));
    for (const char* text : {"<s>", "</s>", "<unk>", "<pad>", "<mask>"})
        vocab[text] = vocab.size();
    folder.write("vocab.json", vocab);
}

IdList plain_ids(const std::string& text) {
    return load_tokenizer(vocabularies + "gpt2_like")->encode(text).ids;
}

IdList chained(IdList ids, const IdList& more) {
    ids.insert(ids.end(), more.begin(), more.end());
    return ids;
}

} // namespace

TEST_CASE("a vocabulary of another kind is refused by name", "[tokenizer]") {
    const std::string sentence = input_error([] { load_tokenizer(vocabularies + "japanese_vocab"); });
    CHECK_THAT(sentence,
               Contains("BertJapaneseTokenizer") && Contains("--ids") && Contains("tokenizer.json"));
    CHECK(unsupported_tokenizer_reason(vocabularies + "japanese_vocab") == sentence);

    TokenizerFolder pieces("bert_like_uncased", {"vocab.txt"});
    CHECK(pieces.problem().empty());
    const IdList expected = pieces.ids("the cat");
    for (const char* name :
         {"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizer"}) {
        pieces.write("tokenizer_config.json", {{"tokenizer_class", name}});
        CHECK(pieces.ids("the cat") == expected);
    }
    pieces.write("tokenizer_config.json", {{"tokenizer_class", "GPT2Tokenizer"}});
    CHECK_THAT(pieces.fault(), Contains("a GPT2Tokenizer"));
    pieces.write("tokenizer_config.json", json::object());
    pieces.write("config.json", {{"model_type", "bert"}});
    CHECK(pieces.ids("the cat") == expected);
    pieces.write("config.json", {{"model_type", "bert"}, {"tokenizer_class", "BertJapaneseTokenizer"}});
    CHECK_THAT(pieces.fault(), Contains("a BertJapaneseTokenizer"));
    pieces.write("config.json", {{"model_type", "roformer"}});
    CHECK_THAT(pieces.fault(), Contains("a RoFormerTokenizer"));

    TokenizerFolder merges("gpt2_like", {"vocab.json", "merges.txt"});
    for (const char* name :
         {"Qwen2Tokenizer", "CLIPTokenizerFast", "PreTrainedTokenizerFast", "BertTokenizer"}) {
        merges.write("tokenizer_config.json", {{"tokenizer_class", name}});
        CHECK_THAT(merges.fault(), Contains(std::string(name).substr(0, 8)));
    }
    TokenizerFolder whole("gpt2_like", {"vocab.json", "merges.txt", "tokenizer.json"});
    whole.write("tokenizer_config.json", {{"tokenizer_class", "BertJapaneseTokenizer"}});
    CHECK(whole.problem().empty());
    CHECK(whole.ids("the cat") == plain_ids("the cat"));
}

TEST_CASE("a begin token that only the options name stands before every text", "[tokenizer]") {
    const std::string folder = vocabularies + "opt_begin_token";
    const auto tokenizer = load_tokenizer(folder);
    const std::vector<std::string> texts = json::parse(read_file(vocabularies + "strings.json"));
    const json cases = json::parse(read_file(folder + "/ids.json"));
    REQUIRE(cases.size() == texts.size());
    for (const json& expected : cases) {
        const std::string& text = texts.at(expected["i"].get<std::size_t>());
        INFO(json(text).dump());
        CHECK(json(tokenizer->encode(text).ids) == expected["ids"]);
    }
}

TEST_CASE("RoBERTa's kinds enclose a text whether their class is named or only their family", "[tokenizer]") {
    TokenizerFolder folder("gpt2_like", {"merges.txt"});
    add_roberta_tokens(folder);
    const IdList enclosed = chained(chained({557}, plain_ids("Hello")), {561, 558});
    for (const char* name : {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizerFast"}) {
        folder.write("tokenizer_config.json", {{"tokenizer_class", name}});
        CHECK(folder.ids("Hello <mask>") == enclosed);
    }
    folder.write("tokenizer_config.json", json::object());
    for (const char* family : {"roberta", "bart"}) {
        folder.write("config.json", {{"model_type", family}});
        CHECK(folder.ids("Hello <mask>") == enclosed);
    }
    folder.write("config.json", {{"model_type", "gpt2"}});
    CHECK(folder.ids("Hello") == plain_ids("Hello"));
}

TEST_CASE("special and added tokens of a vocabulary come from the files beside it", "[tokenizer]") {
    TokenizerFolder folder("gpt2_like", {"merges.txt"});
    add_roberta_tokens(folder);
    const IdList hello = plain_ids("Hello");
    SECTION("special_tokens_map.json has precedence over tokenizer_config.json") {
        folder.write("tokenizer_config.json",
                     {{"tokenizer_class", "GPT2Tokenizer"}, {"add_bos_token", true}, {"bos_token", "<pad>"}});
        CHECK(folder.ids("Hello") == chained({560}, hello));
        folder.write("special_tokens_map.json",
                     {{"bos_token", {{"content", "</s>"}, {"lstrip", false}, {"normalized", true}}},
                      {"additional_special_tokens", {"<new>"}}});
        CHECK(folder.ids("Hello") == chained({558}, hello));
        CHECK(folder.ids("Hello<new>") == chained(chained({558}, hello), {562}));
    }
    SECTION("added_tokens.json, in the order of its ids") {
        folder.write("tokenizer_config.json", {{"tokenizer_class", "GPT2Tokenizer"}});
        folder.write("added_tokens.json", {{"<a>", 563}, {"<b>", 562}, {"<pad>", 560}});
        CHECK(folder.ids("<a><b><pad>") == IdList{563, 562, 560});
    }
    SECTION("added_tokens_decoder stands for both") {
        const json token{{"content", "<c>"}, {"lstrip", true}, {"special", true}};
        folder.write("tokenizer_config.json", {{"tokenizer_class", "GPT2Tokenizer"},
                                               {"add_bos_token", true},
                                               {"bos_token", "<c>"},
                                               {"added_tokens_decoder", {{"562", token}}}});
        folder.write("added_tokens.json", {{"<a>", 562}});
        folder.write("special_tokens_map.json", {{"bos_token", "</s>"}});
        CHECK(folder.ids("Hello  <c>") == chained(chained({562}, hello), {562}));
        CHECK(folder.ids("<a>") == chained({562}, plain_ids("<a>")));
    }
    SECTION("malformed files are named") {
        folder.write("tokenizer_config.json", {{"added_tokens_decoder", {{"x", {{"content", "<c>"}}}}}});
        CHECK_THAT(folder.fault(), Contains("tokenizer_config.json: added_tokens_decoder"));
        folder.write("tokenizer_config.json", json::object());
        folder.write("special_tokens_map.json", {{"bos_token", 3}});
        CHECK_THAT(folder.fault(), Contains("special_tokens_map.json: bos_token is 3"));
        folder.write("special_tokens_map.json", json::object());
        folder.write("added_tokens.json", {{"<a>", "b"}});
        CHECK_THAT(folder.fault(), Contains("added_tokens.json: "));
    }
}

TEST_CASE("Llama's and Gemma's options say which tokens stand around a text", "[tokenizer]") {
    const auto check = [](const std::string& name, const json& options, const IdList& before,
                          const IdList& after) {
        TokenizerFolder folder(name, {"tokenizer.json"});
        IdList bare = load_tokenizer(vocabularies + name + "/tokenizer.json")->encode("Hello").ids;
        bare.erase(bare.begin()); // the begin token of tokenizer.json
        folder.write("tokenizer_config.json", options);
        INFO(name << options.dump());
        CHECK(folder.ids("Hello") == chained(chained(before, bare), after));
    };
    const auto options = [](const std::string& name, json more = json::object()) {
        more["tokenizer_class"] = name;
        return more;
    };
    const auto bos = GENERATE(table<std::string, std::string, TokenId, TokenId>(
        {{"llama2_like", "LlamaTokenizer", 1, 2}, {"gemma_like", "GemmaTokenizerFast", 2, 1}}));
    const auto& [name, kind, begin, end] = bos;
    check(name, options(kind), {begin}, {});
    check(name, options(kind, {{"add_bos_token", false}}), {}, {});
    check(name, options(kind, {{"add_bos_token", nullptr}}), {}, {});
    check(name, options(kind, {{"add_eos_token", true}}), {begin}, {end});
    check(name, options(kind, {{"add_bos_token", false}, {"add_eos_token", true}}), {}, {end});
    check(name, options(kind, {{"bos_token", {{"content", "<unk>"}, {"__type", "AddedToken"}}}}),
          {name == "llama2_like" ? 0 : 3}, {});
    // A class that leaves the file's own tokens, and a token that the file lacks, which becomes the next one.
    check(name, options("PreTrainedTokenizerFast", {{"add_bos_token", false}}), {begin}, {});
    check(name, options(kind, {{"bos_token", "<none>"}}), {name == "llama2_like" ? 523 : 522}, {});
}
