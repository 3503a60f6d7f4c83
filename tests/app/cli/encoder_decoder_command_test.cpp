#include "core/base/file.h"
#include "core/format/attention_file.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const std::string t5_folder = test_data("/models/t5_tiny"), gpt2_folder = test_data("/models/gpt2_tiny");

json printed(const Words& words) {
    const ProgramRun run = run_program(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return json::parse(run.out);
}

format::Safetensors traced(const TemporaryFolder& folder, Words more) {
    Words words{"trace", "--model", t5_folder, "--ids", "5,17,42,99", "-o", folder.file("out.safetensors")};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun run = run_program(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return format::Safetensors::open(folder.file("out.safetensors"));
}

bool same_numbers(const format::Safetensors& a, const format::Safetensors& b, const char* name) {
    return std::ranges::equal(a.tensor(name)->values(), b.tensor(name)->values());
}

void check_refusal(const Words& words, int code, const std::string& part) {
    const ProgramRun run = run_program(words);
    INFO(run.err);
    CHECK(run.code == code);
    CHECK_THAT(run.err, Contains(part));
}

} // namespace

TEST_CASE("model check and trace of every golden encoder-decoder agree with its reference", "[cli]") {
    for (const std::string& name : model_case_names(true)) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        const std::string reference = folder + "/expected.safetensors";
        const json found = printed({"model", "check", folder, "--reference", reference, "--json"});
        CHECK(found.at("agrees") == true);
        // The output of trace is itself a valid reference, with the names in the manual.
        const TemporaryFolder made;
        const std::string out = made.file("out.safetensors");
        REQUIRE(run_program({"trace", "--model", folder, "--inputs", reference, "-o", out}).code == 0);
        const json again = printed({"model", "check", folder, "--reference", out, "--json"});
        CHECK(again.at("rows").size() == found.at("rows").size());
        for (const json& row : again.at("rows"))
            CHECK(row.at("largest_difference") == 0.0);
        const json info = printed({"model", "info", folder, "--json"});
        CHECK(info.at("encoder").at("layers") == 2);
        CHECK(info.at("runnable") == true);
        CHECK(info.at("unknown").empty());
    }
}

TEST_CASE("trace of an encoder-decoder names its three kinds of attention", "[cli]") {
    const TemporaryFolder folder;
    const format::Safetensors plain =
        traced(folder, {"--decoder-ids", "0,7,30", "--stages", "weights,resid_mid,resid_out"});
    CHECK(plain.tensor("encoder.layers.1.weights")->shape() == Shape{1, 4, 4, 4});
    CHECK(plain.tensor("decoder.layers.1.weights")->shape() == Shape{1, 4, 3, 3});
    CHECK(plain.tensor("cross.layers.1.weights")->shape() == Shape{1, 4, 3, 4});
    CHECK(plain.tensor("encoder.hidden.2")->shape() == Shape{1, 4, 32});
    CHECK(plain.tensor("decoder.hidden.0")->shape() == Shape{1, 3, 32});
    // The MLP after the cross-attention belongs to the layer.
    CHECK(plain.has("decoder.layers.0.resid_out"));
    CHECK_FALSE(plain.has("cross.layers.0.resid_out"));
    CHECK(plain.has("cross.layers.0.resid_mid"));
    CHECK(plain.integers("decoder_input_ids") == std::vector<std::int64_t>{0, 7, 30});
    CHECK(json::parse(plain.metadata().at("config")).at("encoder").at("H") == 4);
    // The start token alone where nothing else is given.
    CHECK(traced(folder, {}).integers("decoder_input_ids") == std::vector<std::int64_t>{0});
}

TEST_CASE("the trace of one stack opens as attention weights with the tokens of both texts", "[cli]") {
    const TemporaryFolder folder;
    for (const auto& [stack, Tq, Tk] : {std::tuple("encoder", 4, 4), {"decoder", 3, 3}, {"cross", 3, 4}}) {
        INFO(stack);
        const format::Safetensors file = traced(folder, {"--decoder-ids", "0,7,30", "--stack", stack});
        CHECK(file.has(std::string(stack) + ".layers.1.weights"));
        int kept = 0;
        for (const format::SafetensorsEntry& entry : file.entries())
            kept += entry.name.ends_with(".weights") ? 1 : 0;
        CHECK(kept == 2);
        const AttentionSetPtr set = format::open_attention_file(folder.file("out.safetensors"));
        CHECK(set->info().L == 2);
        CHECK(set->info().H == 4);
        CHECK(set->info().Tq == Tq);
        CHECK(set->info().Tk == Tk);
    }
}

TEST_CASE("gains of an encoder-decoder reach the attention that they name", "[cli]") {
    const TemporaryFolder folder;
    const auto run = [&](const char* gain) {
        return gain == nullptr ? traced(folder, {"--decoder-ids", "0,7,30"})
                               : traced(folder, {"--decoder-ids", "0,7,30", "--gain", gain});
    };
    const format::Safetensors plain = run(nullptr), encoder = run("encoder:0.1=0"), own = run("0.1=0"),
                              cross = run("cross:0.1=0");
    CHECK_FALSE(same_numbers(plain, encoder, "encoder.layers.1.weights"));
    CHECK(same_numbers(plain, encoder, "decoder.layers.0.weights"));
    CHECK_FALSE(same_numbers(plain, encoder, "cross.layers.0.weights"));
    CHECK(same_numbers(plain, own, "encoder.layers.1.weights"));
    CHECK_FALSE(same_numbers(plain, own, "cross.layers.0.weights"));
    CHECK(same_numbers(plain, cross, "cross.layers.0.weights"));
    CHECK_FALSE(same_numbers(plain, cross, "decoder.layers.1.weights"));
    CHECK(same_numbers(own, run("decoder:0.1=0"), "logits"));
}

TEST_CASE("heads and export of an encoder-decoder take one stack", "[cli]") {
    const Words base{"--model", t5_folder, "--ids", "5,17,42,99", "--decoder-ids", "0,7,30"};
    const auto with = [&](const char* command, const Words& more) {
        Words words{command};
        words.insert(words.end(), base.begin(), base.end());
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    for (const char* stack : {"encoder", "decoder", "cross"})
        CHECK(printed(with("heads", {"--stack", stack, "--scores", "entropy", "--json"})).size() == 8);
    const TemporaryFolder folder;
    const std::string out = folder.file("x.npy");
    CHECK(run_program(with("export", {"--stack", "cross", "--layer", "1", "--tensor", "weights", "-o", out}))
              .code == 0);
    // The MLP of a decoder's layer follows its cross-attention.
    for (const char* stack : {"encoder", "cross"}) {
        const std::string act = folder.file("act.safetensors"), script = folder.file("layer.py");
        CHECK(
            run_program(with("export", {"--stack", stack, "--layer", "1", "--tensor", "mlp_act", "-o", act}))
                .code == 0);
        CHECK(format::Safetensors::open(act).tensor("mlp_act")->shape() ==
              Shape{1, stack == std::string("cross") ? 3 : 4, 64});
        CHECK(run_program(with("export", {"--stack", stack, "--whole-layer", "-o", script})).code == 0);
        CHECK(read_file(script).find("expected_resid_out") != std::string::npos);
    }
    const std::string model = folder.file("model.py");
    CHECK(run_program(with("export", {"--whole-model", "-o", model})).code == 0);
    CHECK(read_file(model).find("cross_layers_1_weights = ") != std::string::npos);
    check_refusal(with("export", {"--stack", "cross", "--whole-model", "-o", model}), 2, "leave --layer");
    check_refusal(with("export", {"--stack", "decoder", "--tensor", "mlp_act", "-o", out}), 1,
                  "has no mlp_act");
    check_refusal(with("heads", {}), 2, "add --stack encoder, decoder or cross");
    check_refusal(with("export", {"-o", folder.file("x.py")}), 2, "add --stack");
    check_refusal({"heads", "--model", gpt2_folder, "--ids", "1,2", "--stack", "cross"}, 2, "one stack");
}

TEST_CASE("generate of an encoder-decoder writes the decoder's text", "[cli]") {
    const Words base{"generate", "--model", t5_folder, "--ids", "5,17,42,99", "--json"};
    const auto with = [&](const Words& more) {
        Words words = base;
        words.insert(words.end(), more.begin(), more.end());
        return printed(words);
    };
    const json whole = with({"--tokens", "6"});
    CHECK(whole.at("decoder_ids") == json{0});
    CHECK(whole.at("prompt_ids") == json{5, 17, 42, 99});
    const std::vector<std::int64_t> ids = whole.at("ids");
    REQUIRE(ids.size() == 6);
    const json rest =
        with({"--tokens", "3", "--decoder-ids",
              "0," + std::to_string(ids[0]) + "," + std::to_string(ids[1]) + "," + std::to_string(ids[2])});
    CHECK(rest.at("ids") == json{ids[3], ids[4], ids[5]});
    CHECK(rest.at("probabilities")[0] == whole.at("probabilities")[3]);
    CHECK(with({"--tokens", "6", "--gain", "cross:1.2=3"}).at("probabilities") != whole.at("probabilities"));
}

TEST_CASE("texts of an encoder-decoder are cut by its tokenizer, and the decoder's loses its end", "[cli]") {
    const TemporaryFolder folder;
    for (const char* name : {"config.json", "model.safetensors"})
        write_file_atomically(folder.file(name), read_file(t5_folder + "/" + name));
    json vocabulary{{"<pad>", 0}, {"</s>", 1}};
    for (int id = 2; id < 28; ++id)
        vocabulary[std::string(1, static_cast<char>('A' + id - 2))] = id;
    const json end{{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}},
        text{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
    const json special{{"id", 1}, {"content", "</s>"}, {"special", true}};
    const json tokenizer{
        {"version", "1.0"},
        {"added_tokens", json::array({special})},
        {"normalizer", nullptr},
        {"pre_tokenizer", nullptr},
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single", json::array({text, end})},
          {"pair", json::array()},
          {"special_tokens", {{"</s>", {{"id", "</s>"}, {"ids", {1}}, {"tokens", {"</s>"}}}}}}}},
        {"decoder", {{"type", "Fuse"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}};
    write_file_atomically(folder.file("tokenizer.json"), tokenizer.dump());
    const std::string out = folder.file("out.safetensors");
    const ProgramRun run = run_program(
        {"trace", "--model", folder.file(""), "--text", "CAT", "--decoder-text", "DO", "-o", out});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const format::Safetensors file = format::Safetensors::open(out);
    CHECK(file.integers("input_ids") == std::vector<std::int64_t>{4, 2, 21, 1});
    CHECK(file.integers("decoder_input_ids") == std::vector<std::int64_t>{0, 5, 16});
    CHECK(json::parse(file.metadata().at("tokens")) == json{"C", "A", "T", "</s>"});
    CHECK(json::parse(file.metadata().at("decoder_tokens")) == json{"<pad>", "D", "O"});
    REQUIRE(run_program({"trace", "--model", folder.file(""), "--text", "CAT", "--decoder-text", "DO",
                         "--stack", "cross", "-o", out})
                .code == 0);
    const AttentionSetPtr set = format::open_attention_file(out);
    CHECK(set->query_tokens(0) == std::vector<std::string>{"<pad>", "D", "O"});
    CHECK(set->key_tokens(0) == std::vector<std::string>{"C", "A", "T", "</s>"});
    const json written = printed({"generate", "--model", folder.file(""), "--text", "CAT", "--decoder-text",
                                  "DO", "--tokens", "2", "--json"});
    CHECK(written.at("decoder_ids") == json{0, 5, 16});
    CHECK(written.at("prompt_tokens") == json{"C", "A", "T", "</s>"});
}

TEST_CASE("render draws the window with each of the three boards", "[cli]") {
    const TemporaryFolder folder;
    std::vector<std::string> pictures;
    for (const char* stack : {"encoder", "decoder", "cross"}) {
        const std::string out = folder.file(std::string(stack) + ".png");
        const ProgramRun run =
            run_program({"render", "--window", "--model", t5_folder, "--text", "5 17 42", "--decoder-text",
                         "7 9", "--stack", stack, "--layer", "1", "--head", "2", "-o", out});
        INFO(run.err);
        REQUIRE(run.code == 0);
        pictures.push_back(read_file(out));
    }
    CHECK(pictures[0] != pictures[1]);
    CHECK(pictures[1] != pictures[2]);
    CHECK(pictures[0] != pictures[2]);
}

TEST_CASE("what does not fit an encoder-decoder is refused with a sentence", "[cli]") {
    check_refusal({"trace", "--model", gpt2_folder, "--ids", "1", "--decoder-ids", "2", "-o", "-"}, 2,
                  "no decoder beside");
    check_refusal({"trace", "--model", gpt2_folder, "--ids", "1", "--gain", "cross:0.1=0", "-o", "-"}, 1,
                  "one stack");
    check_refusal({"trace", "--model", t5_folder, "--ids", "1", "--gain", "cross:2.0=0", "-o", "-"}, 1,
                  "the cross-attention of layer 2");
    const Words render{"render", "--window", "--text", "1 2", "-o", "-", "--model"};
    const auto refuse_render = [&](Words more, int code, const std::string& part) {
        more.insert(more.begin(), render.begin(), render.end());
        check_refusal(more, code, part);
    };
    refuse_render({gpt2_folder, "--stack", "cross"}, 2, "one stack");
    refuse_render({gpt2_folder, "--decoder-text", "3"}, 2, "no decoder beside");
    refuse_render({t5_folder, "--decoder-text", "seven"}, 1, "\"seven\" is not a token id");
    refuse_render({t5_folder, "--stack", "encoder", "--layer", "2"}, 1, "layers are numbered 0 to 1");
    refuse_render({t5_folder, "--stack", "cross", "--head", "4"}, 1, "heads are numbered 0 to 3");
    refuse_render({t5_folder, "--stack", "decoder", "--stage", "mlp_act"}, 1,
                  "embedding, resid_in, norm1, attn_out, resid_mid");
    check_refusal({"render", "--window", "--decoder-text", "3", "-o", "-"}, 2, "--model");
    check_refusal({"--decoder-text", "3", "missing.headscope"}, 2, "--decoder-text");
    check_refusal({"--decoder-text", "3"}, 2, "PATH");
    check_refusal({"trace", "The cat sat", "--gain", "cross:1=0", "-o", "-"}, 1,
                  "only a checkpoint has layers");
}
