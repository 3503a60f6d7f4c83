#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

ProgramRun generate(const std::string& folder, const Words& more) {
    Words words{"generate", "--model", folder};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
}

std::string golden(const std::string& name) {
    return test_data("/models/") + name;
}

json generated(const std::string& folder, Words more) {
    more.emplace_back("--json");
    const ProgramRun run = generate(folder, more);
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.err.empty());
    return json::parse(run.out);
}

void check_refused(const ProgramRun& run, int code, const std::string& part) {
    INFO(run.err);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
}

/// gpt2_tiny with a vocabulary of its own: A is 0, B is 1, and so on.
void make_lettered(const TemporaryFolder& folder, const json& changes) {
    json config = json::parse(read_file(golden("gpt2_tiny") + "/config.json"));
    config.update(changes);
    write_file_atomically(folder.file("config.json"), config.dump());
    write_file_atomically(folder.file("model.safetensors"),
                          read_file(golden("gpt2_tiny") + "/model.safetensors"));
    json vocabulary;
    for (int id = 0; id < 26; ++id)
        vocabulary[std::string(1, static_cast<char>('A' + id))] = id;
    write_file_atomically(folder.file("tokenizer.json"),
                          json{{"version", "1.0"},
                               {"added_tokens", json::array()},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", nullptr},
                               {"post_processor", nullptr},
                               {"decoder", {{"type", "Fuse"}}},
                               {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}}
                              .dump());
}

} // namespace

TEST_CASE("generate prints lists of one entry for each token it took", "[cli]") {
    const json run = generated(golden("gpt2_tiny"), {"--ids", "5,7,11", "--tokens", "6", "--top", "3"});
    CHECK(run.at("prompt_ids") == json{5, 7, 11});
    CHECK(run.at("prompt_tokens") == json{"#5", "#7", "#11"});
    CHECK(run.at("stopped") == "tokens");
    for (const char* list :
         {"ids", "tokens", "probabilities", "model_probabilities", "draws", "alternatives"}) {
        INFO(list);
        CHECK(run.at(list).size() == 6);
    }
    // Two layers, 3 + 6 tokens of which the last is not read, D 32, keys and values, 4 bytes.
    CHECK(run.at("cache_bytes") == 2 * 8 * 32 * 2 * 4);
    for (std::size_t n = 0; n < 6; ++n) {
        const json& likeliest = run.at("alternatives")[n];
        REQUIRE(likeliest.size() == 3);
        CHECK(likeliest[0].at("id") == run.at("ids")[n]);
        CHECK(likeliest[0].at("model_probability") == run.at("model_probabilities")[n]);
        CHECK(likeliest[0].at("logit") >= likeliest[1].at("logit"));
        CHECK(run.at("draws")[n].is_null());
    }
    CHECK(run.at("probabilities") == run.at("model_probabilities"));
    CHECK(!generated(golden("gpt2_tiny"), {"--ids", "5", "--tokens", "1"}).contains("alternatives"));
    // Without a tokenizer the text is the ids.
    std::string text = "5,7,11";
    for (const json& id : run.at("ids"))
        text += "," + std::to_string(id.get<int>());
    CHECK(run.at("text") == text);
    const ProgramRun plain = generate(golden("gpt2_tiny"), {"--text", "5 7 11", "--tokens", "6"});
    CHECK(plain.out == text + "\n");
}

TEST_CASE("a seed draws the same text again, another seed another one", "[cli]") {
    const auto ids = [](const std::string& seed) {
        return generated(golden("llama_tiny_tied"), {"--ids", "5,7", "--tokens", "20", "--temperature", "1.2",
                                                     "--top-k", "30", "--top-p", "0.9", "--seed", seed})
            .at("ids");
    };
    CHECK(ids("1") == ids("1"));
    CHECK(ids("1") != ids("2"));
}

TEST_CASE("generate goes on with the words of a tokenizer", "[cli]") {
    const TemporaryFolder folder;
    make_lettered(folder, json::object());
    const Words prompt{"--text", "ABBA", "--tokens", "3", "--temperature", "1", "--seed", "4"};
    const json run = generated(folder.file(""), prompt);
    CHECK(run.at("prompt_ids") == json{0, 1, 1, 0});
    CHECK_THAT(run.at("text").get<std::string>(), Catch::StartsWith("ABBA"));
    const ProgramRun plain = generate(folder.file(""), prompt);
    CHECK(plain.out == run.at("text").get<std::string>() + "\n");
    check_refused(generate(folder.file(""), {"--text", "ABxA", "--tokens", "3"}), 1, "no token for \"x\"");
    check_refused(generate(folder.file(""), {"--text", "", "--tokens", "3"}), 1, "no token");
}

TEST_CASE("a text ends at the token that ends one, and where positions end", "[cli]") {
    const json greedy = generated(golden("gpt2_tiny"), {"--ids", "5,7,11", "--tokens", "3"});
    const TemporaryFolder folder;
    const auto stops = [&](const char* file, const json& content) {
        write_file_atomically(folder.file(file), content.dump());
        const json run = generated(folder.file(""), {"--ids", "5,7,11", "--tokens", "3"});
        CHECK(run.at("stopped") == "end of text");
        CHECK(run.at("ids") == json::array({greedy.at("ids")[0]}));
    };
    make_lettered(folder, {{"eos_token_id", greedy.at("ids")[0]}});
    stops("unrelated.json", {});
    make_lettered(folder, {{"eos_token_id", {150, greedy.at("ids")[0]}}});
    stops("unrelated.json", {});
    make_lettered(folder, {{"eos_token_id", 199}});
    stops("generation_config.json", {{"eos_token_id", greedy.at("ids")[0]}});
    std::string prompt = "1";
    for (int n = 1; n < 62; ++n)
        prompt += ",1";
    const json full = generated(golden("gpt2_tiny"), {"--ids", prompt, "--tokens", "5", "--seed", "1"});
    CHECK(full.at("stopped") == "positions");
    CHECK(full.at("ids").size() == 2);
    const ProgramRun plain = generate(golden("gpt2_tiny"), {"--ids", prompt, "--tokens", "5"});
    CHECK(plain.code == 0);
    CHECK_THAT(plain.err, Contains("2 of 5 tokens") && Contains("64"));
}

TEST_CASE("a head that is switched off changes what is written next", "[cli]") {
    const Words prompt{"--ids", "1,5,9,5", "--tokens", "4"};
    Words without = prompt, same = prompt;
    without.insert(without.end(), {"--gain", "0.1=0", "--gain", "1.2=0"});
    same.insert(same.end(), {"--gain", "0.1=1"});
    const std::string folder = golden("gpt2_tiny");
    CHECK(generated(folder, prompt).at("probabilities") == generated(folder, same).at("probabilities"));
    CHECK(generated(folder, prompt).at("probabilities") != generated(folder, without).at("probabilities"));
    check_refused(generate(folder, {"--ids", "1", "--tokens", "3", "--gain", "1=0"}), 1, "names no layer");
    check_refused(generate(folder, {"--ids", "1", "--tokens", "3", "--gain", "9.1=0"}), 1,
                  "no head 1 in layer 9");
}

TEST_CASE("calls of generate that cannot be done are named", "[cli]") {
    const auto fails = [](const std::string& model, const Words& more, int code, const std::string& part) {
        Words words = more;
        words.insert(words.end(), {"--tokens", "3"});
        check_refused(generate(golden(model), words), code, part);
    };
    fails("gpt2_tiny", {}, 2, "--text S or --ids");
    fails("gpt2_tiny", {"--ids", "1", "--text", "2"}, 2, "--ids");
    check_refused(generate(golden("gpt2_tiny"), {"--ids", "1"}), 2, "--tokens");
    check_refused(generate(golden("gpt2_tiny"), {"--ids", "1", "--tokens", "0"}), 1, "--tokens is 0");
    fails("gpt2_tiny", {"--ids", "1,200"}, 1, "is 200");
    fails("gpt2_tiny", {"--ids", "1", "--temperature", "-1"}, 1, "temperature");
    fails("gpt2_tiny", {"--ids", "1", "--top-k", "0"}, 1, "top-k is 0");
    fails("gpt2_tiny", {"--ids", "1", "--top-p", "2"}, 1, "top-p is 2");
    fails("gpt2_tiny", {"--ids", "1", "--top-p", "nan"}, 1, "--top-p: \"nan\" is not a finite number");
    fails("gpt2_tiny", {"--ids", "1", "--top", "-1"}, 1, "--top is -1");
    fails("gpt2_tiny", {"--text", "cat"}, 1, "is not a token id");
    fails("bert_tiny", {"--ids", "1"}, 1, "bert model reads each text");
    fails("no_such_model", {"--ids", "1"}, 1, "does not exist");
    std::string prompt = "1";
    for (int n = 0; n < 64; ++n)
        prompt += ",1";
    fails("gpt2_tiny", {"--ids", prompt}, 1, "65 tokens, and the model has positions for 64");
}
