#include "core/base/file.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::test;
using nlohmann::json;

// The data files hold the ids of Hugging Face's own library.
TEST_CASE("a folder's class changes what its tokenizer.json says, as in Hugging Face's library",
          "[tokenizer]") {
    const std::string data = test_data("/tokenizers/");
    const json file = json::parse(read_file(data + "class_changes.json"));
    const auto given = file.at("texts").get<std::vector<std::string>>();
    REQUIRE(file.at("cases").size() >= 20);
    for (const json& one : file.at("cases")) {
        INFO(one.at("about"));
        json tokenizer = json::parse(read_file(data + one.at("of").get<std::string>() + "/tokenizer.json"));
        tokenizer.update(one.at("tokenizer"));
        const TemporaryFolder folder;
        write_file_atomically(folder.file("tokenizer.json"), tokenizer.dump());
        for (const auto& [name, content] : one.at("files").items())
            write_file_atomically(folder.file(name), content.dump());
        const auto loaded = text::load_tokenizer(folder.file(""));
        for (std::size_t i = 0; i < given.size(); ++i)
            CHECK(json(loaded->encode(given[i]).ids) == one.at("ids").at(i));
        CHECK(json(loaded->encode_pair(given.front(), given.back()).ids) == one.at("pair"));
    }
}

TEST_CASE("two texts have the ids, types and offsets of Hugging Face's library", "[tokenizer]") {
    const std::string data = test_data("/tokenizers/");
    const json file = json::parse(read_file(data + "pairs.json"));
    const json& pairs = file.at("pairs");
    for (const auto& [name, cases] : file.at("cases").items()) {
        const TemporaryFolder folder;
        std::string place = data + name + "/tokenizer.json";
        if (name == "roberta" ||
            name == "begin_token") { // kinds without a tokenizer.json, over the same vocabulary
            json vocabulary = json::parse(read_file(data + "gpt2_like/vocab.json"));
            for (const char* word : {"<s>", "</s>", "<unk>", "<pad>", "<mask>"})
                vocabulary[word] = vocabulary.size();
            const json config = name == "roberta" ? json{{"tokenizer_class", "RobertaTokenizer"}}
                                                  : json{{"tokenizer_class", "GPT2Tokenizer"},
                                                         {"add_bos_token", true},
                                                         {"bos_token", "</s>"},
                                                         {"eos_token", "</s>"},
                                                         {"unk_token", "</s>"}};
            write_file_atomically(folder.file("vocab.json"), vocabulary.dump());
            write_file_atomically(folder.file("merges.txt"), read_file(data + "gpt2_like/merges.txt"));
            write_file_atomically(folder.file("tokenizer_config.json"), config.dump());
            place = folder.file("");
        }
        const auto loaded = text::load_tokenizer(place);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            INFO(name << " " << pairs.at(i));
            const text::Encoding both = loaded->encode_pair(pairs.at(i).at(0).get<std::string>(),
                                                            pairs.at(i).at(1).get<std::string>());
            CHECK(json(both.ids) == cases.at(i).at("ids"));
            CHECK(json(both.types) == cases.at(i).at("types"));
            json offsets = json::array();
            for (const text::TextSpan& span : both.offsets)
                offsets.push_back({span.begin, span.end});
            CHECK(offsets == cases.at(i).at("offsets"));
        }
    }
}
