#include "core/base/file.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/model.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string models = headscope::test_data("/models/");

std::vector<std::string> trace_of(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"trace", "--model", models + name};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

void check_failure(const std::vector<std::string>& arguments, int code, const std::string& part) {
    const ProgramRun run = run_program(arguments);
    INFO(run.err);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
}

} // namespace

TEST_CASE("trace of every golden model writes Hugging Face's numbers", "[cli]") {
    for (const std::string& name : model_case_names()) {
        const ModelCase one = load_model_case(name);
        const TemporaryFolder folder;
        const std::string out = folder.file("out.safetensors");
        const ProgramRun run =
            run_program(trace_of(name, {"--inputs", one.folder + "/expected.safetensors", "-o", out}));
        INFO(name << " " << run.err);
        REQUIRE(run.code == 0);
        const format::Safetensors file = format::Safetensors::open(out);
        for (const std::int64_t l : one.attention_layers)
            CHECK(one.weights_difference(l, *file.tensor("layers." + std::to_string(l) + ".weights")) < 1e-5);
        for (std::int64_t l = 0; l <= one.L; ++l)
            CHECK(one.hidden_difference(l, *file.tensor("hidden." + std::to_string(l))) < 2e-5);
        CHECK(one.logits_difference(*file.tensor("logits")) < 1e-4);
        CHECK(file.integers("input_ids") == one.inputs.ids);
        CHECK(file.has("attention_mask"));
        CHECK(json::parse(file.metadata().at("config")).at("H") == one.H);
    }
}

TEST_CASE("trace of a model keeps the stages, layer and head asked for", "[cli]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.safetensors");
    const ProgramRun run =
        run_program(trace_of("llama_tiny_tied", {"--ids", "5,7,11", "--layer", "1", "--head", "6", "--stages",
                                                 "q_heads,k_heads,weights", "-o", out}));
    INFO(run.err);
    REQUIRE(run.code == 0);
    const format::Safetensors file = format::Safetensors::open(out);
    CHECK(file.tensor("layers.1.q_heads")->shape() == Shape{1, 1, 3, 8});
    CHECK(file.tensor("layers.1.k_heads")->shape() == Shape{1, 1, 3, 8});
    CHECK(file.tensor("layers.1.weights")->shape() == Shape{1, 1, 3, 3});
    CHECK_FALSE(file.has("layers.0.weights"));
    CHECK_FALSE(file.has("layers.1.output"));
    CHECK(file.tensor("logits")->shape() == Shape{1, 3, 128});
    CHECK(file.integers("input_ids") == std::vector<std::int64_t>{5, 7, 11});
}

TEST_CASE("a temperature flattens the weights of every layer", "[cli]") {
    const TemporaryFolder folder;
    const auto traced = [&](const char* temperature) {
        const std::string out = folder.file("out.safetensors");
        const ProgramRun run =
            run_program(trace_of("gpt2_tiny", {"--ids", "5,7,11", "--stages", "scaled,weights",
                                               "--temperature", temperature, "-o", out}));
        INFO(run.err);
        REQUIRE(run.code == 0);
        return format::Safetensors::from_bytes(read_file(out), out);
    };
    const format::Safetensors plain = traced("1"), warm = traced("2"), hot = traced("1e6");
    CHECK(warm.tensor("layers.0.scaled")->at(0, 1, 2, 1) ==
          Approx(plain.tensor("layers.0.scaled")->at(0, 1, 2, 1) / 2));
    for (const char* layer : {"layers.0.weights", "layers.1.weights"})
        CHECK(hot.tensor(layer)->at(0, 1, 2, 1) == Approx(1.0 / 3).margin(1e-4));
}

TEST_CASE("a pass is written in every format, with the same numbers", "[cli]") {
    const TemporaryFolder folder;
    const auto trace = [&](const std::string& out, const std::vector<std::string>& more) {
        std::vector<std::string> words{"--ids", "5,7,11", "--head", "1", "-o", out};
        words.insert(words.end(), more.begin(), more.end());
        const ProgramRun run = run_program(trace_of("gpt2_tiny", words));
        INFO(run.err);
        REQUIRE(run.code == 0);
        return run.out;
    };
    trace(folder.file("out.safetensors"), {});
    const format::Safetensors file = format::Safetensors::open(folder.file("out.safetensors"));
    const float weight = file.tensor("layers.1.weights")->at(0, 0, 2, 1);
    const float logit = file.tensor("logits")->at(0, 2, 17);

    const json parsed = json::parse(trace("-", {"--format", "json"}));
    CHECK(parsed["input_ids"] == json::parse("[[5, 7, 11]]"));
    CHECK(parsed["config"]["family"] == "gpt2");
    CHECK(parsed["stages"]["hidden.2"]["shape"] == json::parse("[1, 3, 32]"));
    CHECK(parsed["stages"]["layers.1.weights"]["values"][0][0][2][1].get<float>() == weight);
    CHECK(parsed["stages"]["logits"]["values"][0][2][17].get<float>() == logit);

    const std::string csv = trace("-", {"--format", "csv"});
    const auto number_after = [&](const std::string& row) {
        const auto at = csv.find("\n" + row);
        REQUIRE(at != std::string::npos);
        return std::stof(csv.substr(at + 1 + row.size()));
    };
    CHECK(number_after("layers.1.weights,0,1,2,1,") == weight);
    CHECK(number_after("logits,0,,2,17,") == logit);

    for (int again = 0; again < 2; ++again)
        trace(folder.file("npy"), {"--format", "npy"});
    CHECK(read_file(folder.file("npy/logits.npy")).size() == 128 + sizeof(float) * 3 * 200);
    CHECK(std::filesystem::exists(folder.file("npy/layers.0.weights.npy")));
    CHECK(json::parse(read_file(folder.file("npy/trace.json")))["input_ids"] == parsed["input_ids"]);
}

TEST_CASE("errors of a model call have the right exit code", "[cli]") {
    check_failure(trace_of("gpt2_tiny", {"-o", "-"}), 2, "--ids");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--gain", "0=0", "-o", "-"}), 1, "names no layer");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--gain", "1.x=0", "-o", "-"}), 1, "of the form h=g");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--gain", "2.0=0", "-o", "-"}), 1,
                  "layers are numbered 0 to 1");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--gain", "1.4=0", "-o", "-"}), 1, "heads 0 to 3");
    check_failure({"trace", "Cat sleeps", "--gain", "1.0=0", "-o", "-"}, 1, "only a checkpoint has layers");
    check_failure({"trace", "Cat sleeps", "--patch", "x", "-o", "-"}, 2, "--model");
    check_failure(
        trace_of("gpt2_tiny", {"--ids", "1", "--patch", models + "gpt2_tiny/model.safetensors", "-o", "-"}),
        1, "is not a patch");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--inputs", "x", "-o", "-"}), 2, "--inputs");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--format", "npy", "-o", "-"}), 1, "name a folder");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "-o", "x.npy"}), 1, "name a folder");
    check_failure({"trace", "--ids", "1", "-o", "-"}, 2, "--model");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1,999", "-o", "-"}), 1, "input_ids[0, 1] is 999");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--temperature", "0", "-o", "-"}), 1, "temperature");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--layer", "2", "-o", "-"}), 1, "no layer 2");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--head", "4", "-o", "-"}), 1, "no head 4");
    check_failure(trace_of("no_such_model", {"--ids", "1", "-o", "-"}), 1, "does not exist");
    check_failure({"model", "info", models + "nothing"}, 1, "does not exist");
    check_failure({"model"}, 2, "headscope model --help");
}

TEST_CASE("gains and a patch change the run of a model, the gains on top", "[cli]") {
    const TemporaryFolder folder;
    const checkpoint::Model model = checkpoint::Model::open(models + "gpt2_tiny");
    const auto W_V = std::make_shared<Tensor>(model.layer(0)[TensorId::W_V]->shape(), 0.01F);
    checkpoint::ModelEdits edits;
    edits[0].tensors[TensorId::W_V] = W_V;
    edits[0].gains = {1, 1, 0.5F, 1};
    checkpoint::save_patch(model, edits, folder.file("patch"));
    const auto logits_of = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"--ids", "5,7,11", "-o", folder.file("out.safetensors")};
        words.insert(words.end(), more.begin(), more.end());
        const ProgramRun run = run_program(trace_of("gpt2_tiny", words));
        INFO(run.err);
        REQUIRE(run.code == 0);
        const TensorPtr logits = format::Safetensors::open(folder.file("out.safetensors")).tensor("logits");
        return std::vector<float>(logits->values().begin(), logits->values().end());
    };
    const auto expected = [&](const checkpoint::ModelEdits& wanted) {
        checkpoint::ModelInputs inputs;
        inputs.T = 3;
        inputs.ids = {5, 7, 11};
        const TensorPtr logits = run_on_cpu(model, inputs, {.edits = wanted}).logits;
        return std::vector<float>(logits->values().begin(), logits->values().end());
    };
    CHECK(logits_of({"--patch", folder.file("patch")}) == expected(edits));
    CHECK(logits_of({}) == expected({}));
    edits[0].gains[3] = 0;
    edits[1].gains = {0, 1, 1, 1};
    CHECK(logits_of({"--patch", folder.file("patch"), "--gain", "0.3=0", "--gain", "1.0=0"}) ==
          expected(edits));
    const checkpoint::ModelEdits one{{1, {.tensors = {}, .gains = {1, 0.25F, 1, 1}}}};
    CHECK(logits_of({"--gain", "1=0.25", "--layer", "1"}) == expected(one));
    CHECK(logits_of({"--gain", "1.1=0.25"}) == expected(one));
}

TEST_CASE("model check of every golden model says how far it is from its reference", "[cli]") {
    const TemporaryFolder folder;
    for (const std::string& name : model_case_names()) {
        const std::string reference = models + name + "/expected.safetensors";
        const ProgramRun run =
            run_program({"model", "check", models + name, "--reference", reference, "--json"});
        INFO(name << " " << run.err);
        REQUIRE(run.code == 0);
        const json found = json::parse(run.out);
        CHECK(found.at("agrees") == true);
        // Attentions of the layers that have them, L + 1 hidden states, logits, and what the routers of
        // mixtures compute.
        const std::int64_t routers = std::ranges::count_if(
            found.at("rows"), [](const json& row) { return row.at("kind") == "router logits"; });
        const checkpoint::Model model = checkpoint::Model::open(models + name);
        const checkpoint::ModelConfig& a = model.config();
        std::int64_t mixtures = 0;
        for (std::int64_t l = 0; l < a.layers; ++l)
            mixtures += model.stages().has({checkpoint::Stack::own, l}, TensorId::routing) ? 1 : 0;
        const format::Safetensors file = format::Safetensors::open(reference);
        CHECK(routers == (file.find("expect.router_logits") ? mixtures : 0));
        CHECK(std::ssize(found.at("rows")) == std::ssize(attention_layers(a)) + a.layers + 2 + routers);
        for (const json& row : found.at("rows"))
            CHECK(row.at("largest_difference").get<double>() <= row.at("allowed").get<double>());
    }
    const std::string reference = models + "gpt2_tiny/expected.safetensors";
    const ProgramRun text = run_program({"model", "check", models + "gpt2_tiny", "--reference", reference});
    CHECK_THAT(text.out, Contains("attentions 1") && Contains("hidden 2") && Catch::EndsWith("agrees\n"));
    // The same model with one gain of a norm moved.
    for (const char* name : {"config.json", "model.safetensors"})
        write_file_atomically(folder.file(name), read_file(models + "gpt2_tiny/" + name));
    const format::Safetensors file = format::Safetensors::open(folder.file("model.safetensors"));
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries()) {
        const auto tensor =
            std::make_shared<Tensor>(file.tensor(entry.name)->shape(), file.tensor(entry.name)->values());
        if (entry.name == "transformer.h.1.ln_1.weight")
            tensor->data()[3] += 0.01F;
        writer.add(entry.name, tensor);
    }
    write_file_atomically(folder.file("model.safetensors"), writer.bytes());
    const ProgramRun moved = run_program({"model", "check", folder.file(""), "--reference", reference});
    CHECK(moved.code == 1);
    CHECK_THAT(moved.out, Contains("too far") && Catch::EndsWith("differs\n"));
    CHECK_THAT(moved.err, Contains("differ, first in attentions 1"));
    check_failure({"model", "check", models + "llama_tiny_tied", "--reference",
                   models + "bert_tiny/expected.safetensors"},
                  1, "input_ids[0, ");
}

TEST_CASE("model check without a reference compares a model with itself in double precision", "[cli]") {
    for (const std::string& model : {std::string("pocket"), models + "t5_tiny"}) {
        const ProgramRun run = run_program({"model", "check", model, "--json"});
        INFO(model << " " << run.err);
        REQUIRE(run.code == 0);
        const json found = json::parse(run.out);
        CHECK(found.at("agrees") == true);
        CHECK(found.at("reference").is_null());
        std::set<std::string> kinds;
        for (const json& row : found.at("rows")) {
            kinds.insert(row.at("kind"));
            CHECK(row.at("largest_difference").get<double>() <= row.at("allowed").get<double>());
        }
        CHECK(kinds.contains("logits"));
        CHECK(kinds.contains("second run"));
    }
    const ProgramRun text = run_program({"model", "check", "pocket"});
    CHECK_THAT(text.out, Contains("residual sums 0") && Contains("weight sums 1") && Contains("second run") &&
                             Catch::EndsWith("agrees\n"));
    check_failure({"model", "check", models + "nowhere"}, 1, "nowhere");
}

TEST_CASE(
    "model list shows pocket, the checkpoints of the local cache and those of the folders that are named",
    "[cli]") {
    const TemporaryFolder folder;
    const std::string snapshot = folder.file("hub/models--someone--tiny/snapshots/abc");
    std::filesystem::create_directories(snapshot);
    for (const char* name : {"config.json", "model.safetensors"})
        write_file_atomically(snapshot + "/" + name, read_file(models + "bert_tiny/" + name));
    const std::string cache = folder.file("cache"), hub = folder.file("hub"),
                      examples = test_data("/corpus/gguf");
    const std::map<std::string, std::string> places{{"HF_HUB_CACHE", hub}, {"XDG_CACHE_HOME", cache}};
    const ProgramRun run = run_program({"model", "list", "--json"}, "", places);
    REQUIRE(run.code == 0);
    const json found = json::parse(run.out);
    REQUIRE(found.size() == 2);
    CHECK((found[0].at("name") == "pocket" && found[0].at("tokenizer") == "tokenizer.json"));
    CHECK((found[1].at("name") == "someone/tiny" && found[1].at("family") == "bert" &&
           found[1].at("runs") == true));
    CHECK((found[1].at("layers") == 2 && found[1].at("H") == 4 && found[1].at("parameters") > 1000));
    const ProgramRun text = run_program({"model", "list", examples}, "", places);
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("good_scored.gguf\n  llama, 1 layer ") &&
                             Contains("tokenizer: llama in the file") && Contains("does not run: ") &&
                             Contains("someone/tiny"));
    check_failure({"model", "list", folder.file("nowhere")}, 1, "nowhere");
}

TEST_CASE("model list shows the other models where pocket cannot be unpacked", "[cli]") {
    const std::map<std::string, std::string> closed{
        {"XDG_CACHE_HOME", "/proc/cache"}, {"TMPDIR", "/proc"}, {"HF_HUB_CACHE", "/proc"}};
    const ProgramRun run = run_program({"model", "list", "--json", models + "bert_tiny"}, "", closed);
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json found = json::parse(run.out);
    REQUIRE(found.size() == 2);
    CHECK((found[0].at("name") == "pocket" && found[0].at("path") == "" && found[0].at("runs") == false));
    CHECK_THAT(found[0].at("problem").get<std::string>(), Contains("XDG_CACHE_HOME"));
    CHECK(found[1].at("runs") == true);
    const ProgramRun text = run_program({"model", "list"}, "", closed);
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Catch::StartsWith("pocket\n  does not run: pocket cannot be unpacked: "));
}

TEST_CASE("a text is cut into tokens by the tokenizer beside the model", "[cli]") {
    const TemporaryFolder folder;
    for (const char* name : {"config.json", "model.safetensors"})
        write_file_atomically(folder.file(name), read_file(models + "gpt2_tiny/" + name));
    json vocabulary = {{"A", 0}, {"B", 1}};
    write_file_atomically(folder.file("tokenizer.json"),
                          json{{"version", "1.0"},
                               {"added_tokens", json::array()},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", nullptr},
                               {"post_processor", nullptr},
                               {"decoder", nullptr},
                               {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}}
                              .dump());
    const std::string out = folder.file("out.safetensors");
    for (const std::vector<std::string>& input :
         std::vector<std::vector<std::string>>{{"--text", "ABBA"}, {"--ids", "0,1,1,0"}}) {
        const ProgramRun run =
            run_program({"trace", "--model", folder.file(""), input[0], input[1], "-o", out});
        INFO(run.err);
        REQUIRE(run.code == 0);
        const format::Safetensors file = format::Safetensors::open(out);
        CHECK(file.integers("input_ids") == std::vector<std::int64_t>{0, 1, 1, 0});
        CHECK(json::parse(file.metadata().at("tokens")) == json{"A", "B", "B", "A"});
    }
}

TEST_CASE("model info tells family, shapes, parameters and what does not fit", "[cli]") {
    const ProgramRun text = run_program({"model", "info", models + "qwen2_tiny_bf16"});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("family: qwen2") && Contains("BF16") && Contains("missing tensors: none"));
    const TemporaryFolder folder;
    json config = json::parse(read_file(models + "gpt2_tiny/config.json"));
    config["n_layer"] = 1;
    write_file_atomically(folder.file("config.json"), config.dump());
    write_file_atomically(folder.file("model.safetensors"),
                          read_file(models + "gpt2_tiny/model.safetensors"));
    write_file_atomically(folder.file("vocab.json"), "{}");
    const ProgramRun run = run_program({"model", "info", folder.file(""), "--json"});
    REQUIRE(run.code == 0);
    const json info = json::parse(run.out);
    CHECK(info.at("family") == "gpt2");
    CHECK(info.at("layers") == 1);
    CHECK(info.at("parameters") == 33920);
    CHECK(info.at("unknown").size() == 12);
    CHECK(info.at("missing").empty());
    CHECK(info.at("tokenizer_files") == json::array({"vocab.json"}));
}

TEST_CASE("the parts of a multimodal checkpoint that are left out are named", "[cli]") {
    const ProgramRun text = run_program({"model", "info", models + "gemma3_nested_tiny"});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("family: gemma3\n") && Contains("runs: yes\n") &&
                             Contains("left out: vision, 23 tensors, 2256 parameters; only the language") &&
                             Contains("unknown tensors: none") && !Contains("vision_tower"));
    const json info = json::parse(run_program({"model", "info", models + "qwen3_vl_tiny", "--json"}).out);
    REQUIRE(info.at("left_out").size() == 1);
    CHECK(info.at("left_out")[0].at("part") == "vision");
    CHECK(json::parse(run_program({"model", "info", models + "gpt2_tiny", "--json"}).out)
              .at("left_out")
              .empty());
    const ProgramRun run =
        run_program(trace_of("llava_tiny", {"--ids", "1,2,3", "-o", "-", "--format", "json"}));
    CHECK(run.code == 0);
    CHECK(run.err ==
          "headscope: Only the language model of this checkpoint is computed; its parts for images "
          "are left out.\n");
}

TEST_CASE("render turns the gains of a checkpoint's heads", "[cli]") {
    const TemporaryFolder folder;
    const auto picture = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"render",
                                       "--window",
                                       "--size",
                                       "640x480",
                                       "--model",
                                       models + "gpt2_tiny",
                                       "--text",
                                       "3 1 4",
                                       "--hide-first-token",
                                       "-o",
                                       folder.file("window.png")};
        words.insert(words.end(), more.begin(), more.end());
        const ProgramRun run = run_program(words);
        INFO(run.err);
        REQUIRE(run.code == 0);
        return read_file(folder.file("window.png"));
    };
    // Aggregated weights are shown without a computing time, which differs between any two pictures.
    const bool seen = picture({"--layer", "1", "--gain", "1.2=0"}) != picture({"--layer", "1"});
    CHECK(seen);
    const bool same =
        picture({"--layer", "1", "--gain", "2=0"}) == picture({"--layer", "1", "--gain", "1.2=0"});
    CHECK(same);
    const std::vector<std::string> render{"render", "--window",           "--model", models + "gpt2_tiny",
                                          "-o",     folder.file("no.png")};
    const auto with = [&](const std::string& option, const std::string& value) {
        std::vector<std::string> words = render;
        words.insert(words.end(), {option, value});
        return words;
    };
    check_failure(with("--gain", "7.1=0"), 1, "layers are numbered 0 to 1, heads 0 to 3");
    check_failure(with("--preset", "random"), 2, "--preset");
    check_failure(with("--kv-sentence", "Le chat"), 2, "--kv-sentence");
}

TEST_CASE("tensors that a family does not have inside its layers stop a run unless --ignore-unknown is given",
          "[cli]") {
    const std::string folder = test_data("/files/llama_inner_norms");
    const ProgramRun refused =
        run_program({"trace", "--model", folder, "--ids", "1,2,3", "-o", "-", "--format", "json"});
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, Contains("inner_attn_ln") && Contains("--ignore-unknown"));
    const ProgramRun runs = run_program(
        {"trace", "--model", folder, "--ids", "1,2,3", "--ignore-unknown", "-o", "-", "--format", "json"});
    CHECK(runs.code == 0);
    const ProgramRun info = run_program({"model", "info", folder});
    CHECK(info.code == 0);
    CHECK_THAT(info.out, Contains("runs: no") && Contains("inner_attn_ln"));
    CHECK_THAT(run_program({"model", "info", folder, "--ignore-unknown"}).out,
               Contains("runs: yes, without"));
}

TEST_CASE("model info names a vocabulary that cannot be used", "[cli]") {
    const TemporaryFolder folder;
    const std::filesystem::path made = folder.file("bert");
    std::filesystem::copy(models + "bert_tiny", made);
    write_file_atomically((made / "vocab.txt").string(), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n");
    CHECK(json::parse(run_program({"model", "info", made.string(), "--json"}).out).at("tokenizer_problem") ==
          "");
    write_file_atomically((made / "tokenizer_config.json").string(),
                          R"({"tokenizer_class": "BertJapaneseTokenizer"})");
    const ProgramRun text = run_program({"model", "info", made.string()});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("tokenizer_config.json, vocab.txt; ") && Contains("BertJapaneseTokenizer"));
    CHECK_THAT(json::parse(run_program({"model", "info", made.string(), "--json"}).out)
                   .at("tokenizer_problem")
                   .get<std::string>(),
               Contains("BertJapaneseTokenizer") && Contains("--ids"));
}

TEST_CASE("tokenize puts a second text behind the first as the tokenizer's pairs are", "[cli]") {
    const std::string bert = test_data("/tokenizers/bert_like_uncased");
    const ProgramRun run =
        run_program({"tokenize", "--tokenizer", bert, "the cat", "--pair", "sat", "--json"});
    CHECK(run.code == 0);
    const json both = json::parse(run.out);
    const json first = json::parse(run_program({"tokenize", "--tokenizer", bert, "the cat", "--json"}).out);
    const json second = json::parse(run_program({"tokenize", "--tokenizer", bert, "sat", "--json"}).out);
    json ids = first.at("ids"), types = json::array();
    for (std::size_t i = 1; i < second.at("ids").size(); ++i) // without its [CLS]
        ids.push_back(second.at("ids").at(i));
    for (std::size_t i = 0; i < ids.size(); ++i)
        types.push_back(i < first.at("ids").size() ? 0 : 1);
    CHECK(both.at("ids") == ids);
    CHECK(both.at("types") == types);
}
