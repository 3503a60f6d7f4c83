#include "core/base/file.h"
#include "core/checkpoint/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/model_case.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::test;
using Catch::Matchers::Contains;
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

TEST_CASE("trace of every golden model writes Hugging Face's numbers") {
    for (const std::string& name : model_case_names()) {
        const ModelCase one = load_model_case(name);
        const TemporaryFolder folder;
        const std::string out = folder.file("out.safetensors");
        const ProgramRun run =
            run_program(trace_of(name, {"--inputs", one.folder + "/expected.safetensors", "-o", out}));
        INFO(name << " " << run.err);
        REQUIRE(run.code == 0);
        const Safetensors file = Safetensors::open(out);
        for (std::int64_t l = 0; l < one.L; ++l)
            CHECK(one.weights_difference(l, *file.tensor("layers." + std::to_string(l) + ".weights")) < 1e-5);
        for (std::int64_t l = 0; l <= one.L; ++l)
            CHECK(one.hidden_difference(l, *file.tensor("hidden." + std::to_string(l))) < 2e-5);
        CHECK(one.logits_difference(*file.tensor("logits")) < 1e-4);
        CHECK(file.integers("input_ids") == one.inputs.ids);
        CHECK(file.has("attention_mask"));
        CHECK(json::parse(file.metadata().at("config")).at("H") == one.H);
    }
}

TEST_CASE("trace of a model keeps the stages, layer and head asked for") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out.safetensors");
    const ProgramRun run =
        run_program(trace_of("llama_tiny_tied", {"--ids", "5,7,11", "--layer", "1", "--head", "6", "--stages",
                                                 "q_heads,k_heads,weights", "-o", out}));
    INFO(run.err);
    REQUIRE(run.code == 0);
    const Safetensors file = Safetensors::open(out);
    CHECK(file.tensor("layers.1.q_heads")->shape() == Shape{1, 1, 3, 8});
    CHECK(file.tensor("layers.1.k_heads")->shape() == Shape{1, 1, 3, 8});
    CHECK(file.tensor("layers.1.weights")->shape() == Shape{1, 1, 3, 3});
    CHECK_FALSE(file.has("layers.0.weights"));
    CHECK_FALSE(file.has("layers.1.output"));
    CHECK(file.tensor("logits")->shape() == Shape{1, 3, 128});
    CHECK(file.integers("input_ids") == std::vector<std::int64_t>{5, 7, 11});
}

TEST_CASE("faults of a model call are told with the right code") {
    check_failure(trace_of("gpt2_tiny", {"-o", "-"}), 2, "--ids");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--gain", "0=0", "-o", "-"}), 2, "--gain");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--inputs", "x", "-o", "-"}), 2, "--inputs");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--format", "csv", "-o", "-"}), 2, "safetensors");
    check_failure({"trace", "--ids", "1", "-o", "-"}, 2, "--model");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1,999", "-o", "-"}), 1, "input_ids[0, 1] is 999");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--layer", "2", "-o", "-"}), 1, "no layer 2");
    check_failure(trace_of("gpt2_tiny", {"--ids", "1", "--head", "4", "-o", "-"}), 1, "no head 4");
    check_failure(trace_of("no_such_model", {"--ids", "1", "-o", "-"}), 1, "no folder");
    check_failure({"model", "info", models + "nothing"}, 1, "no folder");
    check_failure({"model"}, 2, "headscope model --help");
}

TEST_CASE("a text is cut into tokens by the tokenizer beside the model") {
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
        const Safetensors file = Safetensors::open(out);
        CHECK(file.integers("input_ids") == std::vector<std::int64_t>{0, 1, 1, 0});
        CHECK(json::parse(file.metadata().at("tokens")) == json{"A", "B", "B", "A"});
    }
}

TEST_CASE("model info tells family, shapes, parameters and what does not fit") {
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
