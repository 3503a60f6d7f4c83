#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;

namespace {

ProgramRun run_export(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "export");
    return run_program(arguments);
}

void check_export_fails(const std::vector<std::string>& arguments, int code, const std::string& part) {
    const ProgramRun run = run_export(arguments);
    INFO(run.err);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
    CHECK(std::ranges::count(run.err, '\n') == 1);
}

const std::string gpt2 = test_data("/models/gpt2_tiny");

} // namespace

TEST_CASE("export writes a script to a file or to standard output", "[cli]") {
    const TemporaryFolder folder;
    const ProgramRun to_file = run_export({"The cat sat", "-o", folder.file("cat.py")});
    CHECK(to_file.code == 0);
    CHECK((to_file.out + to_file.err).empty());
    const std::string script = read_file(folder.file("cat.py"));
    CHECK_THAT(script,
               Catch::StartsWith("#!/usr/bin/env python3\n") && Contains("tokens = [\"The\", \"cat\", "
                                                                         "\"sat\"]"));
    CHECK(run_export({"The cat sat", "-o", "-"}).out == script);
    CHECK_THAT(run_export({"--help"}).out, Contains("--tensor") && Contains("default 0"));
}

TEST_CASE("export takes one layer of a checkpoint", "[cli]") {
    const ProgramRun first = run_export({"--model", gpt2, "--ids", "1,2,3", "-o", "-"});
    CHECK_THAT(first.out, Contains("computed it: \"layer 0 of ") && Contains("Tq = 3"));
    CHECK_THAT(run_export({"--model", gpt2, "--ids", "1,2,3", "--layer", "1", "-o", "-"}).out,
               Contains("layer 1 of "));
    check_export_fails({"--model", gpt2, "--ids", "1,2,3", "--layer", "2", "-o", "-"}, 1, "numbered 0 to 1");
    check_export_fails({"--model", gpt2, "-o", "-"}, 2, "needs tokens");
}

TEST_CASE("export writes one tensor where one is named", "[cli]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("w.csv");
    CHECK(run_export({"a cat", "--tensor", "weights", "--head", "1", "--batch", "0", "-o", out}).code == 0);
    CHECK(std::ranges::count(read_file(out), '\n') == 2);
    CHECK(run_export({"--model", gpt2, "--ids", "4,5", "--tensor", "b_Q", "-o", out}).code == 0);
    CHECK(std::ranges::count(read_file(out), ',') == 31);
}

TEST_CASE("export writes the weights of a model's ends, without a text", "[cli]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("w.safetensors");
    const format::Safetensors file = format::Safetensors::open(gpt2 + "/model.safetensors");
    const std::pair<std::string, std::string> names[] = {{"W_E", "transformer.wte.weight"},
                                                         {"W_U", "transformer.wte.weight"},
                                                         {"W_P", "transformer.wpe.weight"},
                                                         {"final_norm_weight", "transformer.ln_f.weight"}};
    for (const auto& [name, own] : names) {
        INFO(name);
        REQUIRE(run_export({"--model", gpt2, "--tensor", name, "-o", out}).code == 0);
        const TensorPtr written = format::Safetensors::open(out).tensor(name), wanted = file.tensor(own);
        CHECK(written->shape() == wanted->shape());
        CHECK(std::ranges::equal(written->values(), wanted->values()));
    }
    const std::string t5 = test_data("/models/t5_tiny");
    for (const std::string stack : {"encoder", "decoder"}) {
        REQUIRE(run_export({"--model", t5, "--stack", stack, "--decoder-ids", "0", "--tensor",
                            "final_norm_weight", "-o", out})
                    .code == 0);
        CHECK(std::ranges::equal(format::Safetensors::open(out).tensor("final_norm_weight")->values(),
                                 format::Safetensors::open(t5 + "/model.safetensors")
                                     .tensor(stack + ".final_layer_norm.weight")
                                     ->values()));
    }
    check_export_fails({"--model", gpt2, "--tensor", "b_U", "-o", out}, 1, "has no b_U");
    check_export_fails({"--model", gpt2, "--layer", "1", "--tensor", "W_E", "-o", out}, 2, "no layer");
    check_export_fails({"--model", gpt2, "--tensor", "W_Q", "-o", out}, 2, "needs tokens");
    check_export_fails({"a cat", "--tensor", "W_E", "-o", out}, 1, "add --model");
}

TEST_CASE("what export cannot do is said in a sentence", "[cli]") {
    check_export_fails({"a cat"}, 2, "--output");
    check_export_fails({"-o", "-"}, 2, "nothing to run");
    check_export_fails({"a cat", "-o", "cat.npy"}, 1, "name a .py file");
    check_export_fails({"a cat", "--head", "1", "-o", "cat.npy"}, 2, "--tensor");
    check_export_fails({"a cat", "--tensor", "weights", "-o", "cat.py"}, 1, ".npy");
    check_export_fails({"a cat", "--tensor", "weights", "-o", "cat.json"}, 1, ".npy");
    check_export_fails({"a cat", "--tensor", "wieghts", "-o", "cat.npy"}, 1, "wieghts");
    check_export_fails({"a cat", "--tensor", "weights", "--head", "9", "-o", "cat.npy"}, 1,
                       "numbered 0 to 1");
    check_export_fails({"a cat", "-o", "/nowhere/cat.py"}, 1, "/nowhere");
    check_export_fails({"--case", test_data("/mha/s1_none_bias.safetensors"), "-o", "-"}, 2, "--heads");
}

TEST_CASE("export writes both sentences", "[cli]") {
    const std::string script = run_export({"--preset", "translation", "-o", "-"}).out;
    CHECK_THAT(script, Contains("The cat drinks cold water / Le chat boit de l'eau froide") &&
                           Contains("kv_tokens = [\"Le\", \"chat\"") && Contains("k = x_kv @ W_K"));
}
