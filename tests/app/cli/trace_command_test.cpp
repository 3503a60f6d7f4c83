#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "core/trace/stage.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string cases = headscope::test_data("/mha/");

std::vector<std::string> case_arguments(const std::string& name, const std::string& heads) {
    return {"trace", "--case", cases + name + ".safetensors", "--heads", heads};
}

std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Checks the form of every failure: the code, nothing on stdout, one line on stderr.
void check_failure(const ProgramRun& run, int code, const std::string& part) {
    INFO(run.err);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
    CHECK(std::ranges::count(run.err, '\n') == 1);
}

/// A case of T tokens with one number in all tensors; its path.
std::string write_case(const TemporaryFolder& in, std::int64_t T, std::int64_t D, std::int64_t columns) {
    format::SafetensorsWriter writer;
    writer.add("X", std::make_shared<const Tensor>(Shape{1, T, D}, 0.5F));
    for (const char* const name : {"W_Q", "W_K", "W_V"})
        writer.add(name, std::make_shared<const Tensor>(Shape{D, columns}, 0.5F));
    writer.add("W_O", std::make_shared<const Tensor>(Shape{columns, D}, 0.5F));
    write_file_atomically(in.file("case"), writer.bytes());
    return in.file("case");
}

json trace_json(const std::vector<std::string>& arguments) {
    const ProgramRun run = run_program(arguments + std::vector<std::string>{"-o", "-"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.err.empty());
    return json::parse(run.out);
}

} // namespace

TEST_CASE("every sub-command has help, and the program a version", "[cli]") {
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"--help"}, {"trace", "--help"}, {"devices", "--help"}}) {
        const ProgramRun run = run_program(arguments);
        CHECK(run.code == 0);
        CHECK(run.err.empty());
        CHECK_THAT(run.out, Contains("--help"));
    }
    CHECK(run_program({"--version"}).out == "headscope " HEADSCOPE_VERSION "\n");
}

TEST_CASE("wrong usage exits with 2 and says where the help is", "[cli]") {
    check_failure(run_program({"trace", "a cat", "--nonsense", "-o", "-"}), 2, "headscope trace --help");
    check_failure(run_program({"trace", "a cat"}), 2, "--output");
    check_failure(run_program({"trace", "-o", "-"}), 2, "nothing to run");
    check_failure(run_program({"trace", "a", "cat", "-o", "-"}), 2, "cat");
    check_failure(run_program({"trace", "a cat", "--format", "png", "-o", "-"}), 1, "png");
    check_failure(run_program({"trace", "a cat", "--heads", "two", "-o", "-"}), 1, "two");
    check_failure(run_program({"trace", "a cat", "--gain", "0", "-o", "-"}), 1, "h=g");
    check_failure(run_program({"trace", "a cat", "--gain", "0=x", "-o", "-"}), 1, "h=g");
    check_failure(run_program({"trace", "a cat", "--device", "abacus", "-o", "-"}), 1, "abacus");
    check_failure(run_program({"trace", "a cat", "--weights", "w.safetensors", "-o", "-"}), 2, "--case");
    check_failure(run_program({"trace", "a cat", "--format", "npy", "-o", "-"}), 1, "one stage");
    const auto with_case = case_arguments("s1_none_bias", "2");
    check_failure(run_program(with_case + std::vector<std::string>{"a cat", "-o", "-"}), 2,
                  "give one of them");
    check_failure(run_program(with_case + std::vector<std::string>{"--seed", "2", "-o", "-"}), 2, "--seed");
    check_failure(run_program({"trace", "--case", cases + "s1_none_bias.safetensors", "-o", "-"}), 2,
                  "--heads");
}

TEST_CASE("input at fault exits with 1 and names what it is", "[cli]") {
    const std::vector<std::string> out{"-o", "-"};
    check_failure(run_program({"trace", "--case", "nowhere.safetensors", "--heads", "2", "-o", "-"}), 1,
                  "nowhere");
    check_failure(run_program(case_arguments("s1_none_bias", "3") + out), 1, "W_Q");
    check_failure(run_program(case_arguments("s1_none_bias", "0") + out), 1, "H");
    check_failure(run_program(case_arguments("s1_none_bias", "-2") + out), 1, "H");
    check_failure(
        run_program(case_arguments("s1_none_bias", "2") + std::vector<std::string>{"--kv-heads", "0"} + out),
        1, "Hkv");
    const auto fault = [&](const std::vector<std::string>& more, const std::string& part) {
        check_failure(run_program(case_arguments("s1_none_bias", "2") + more + out), 1, part);
    };
    fault({"--stages", "weights,wieghts"}, "there is no stage \"wieghts\"");
    fault({"--stages", ""}, "there is no stage");
    fault({"--head", "2"}, "numbered 0 to 1");
    fault({"--head", "-1"}, "numbered 0 to 1");
    fault({"--gain", "2=1"}, "numbered 0 to 1");
    fault({"--gain", "0=nan"}, "gain");
    fault({"--temperature", "0"}, "temperature");
    fault({"--mask", "causl"}, "causl");
    fault({"--mask", R"([{"kind":"explicit","allowed":[[1,0]]}])"}, "(1, 2)");
    fault({"--mask", R"([{"kind":"additive"}])"}, "mask.add");
    fault({"--weights", "nowhere.safetensors"}, "nowhere");
    check_failure(run_program({"trace", "a cat", "--preset", "dog", "-o", "-"}), 1, "dog");
    check_failure(run_program({"trace", "", "-o", "-"}), 1, "");
    check_failure(run_program({"trace", "a \xff cat", "-o", "-"}), 1, "UTF-8");
    check_failure(run_program({"trace", "a cat", "--mask", R"([{"kind":"additive"}])", "-o", "-"}), 1,
                  "\"add\"");
}

TEST_CASE("an error is one line of UTF-8, whatever the name of the file", "[cli]") {
    const ProgramRun run = run_program({"trace", "--case", "a\xff\nb\xc3\x9f", "--heads", "2", "-o", "-"});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::StartsWith("headscope: cannot read a\uFFFD\uFFFDb\u00DF: No such file"));
    CHECK(std::ranges::count(run.err, '\n') == 1);
}

TEST_CASE("what the machine lacks exits with 3", "[cli]") {
    const std::vector<std::string> ask{"trace", "a cat", "-o", "-"};
    check_failure(run_program(ask + std::vector<std::string>{"--device", "vulkan:77"}), 3, "vulkan:77");
    check_failure(run_program(ask, "", {{"HEADSCOPE_DEVICE", "vulkan:77"}}), 3, "vulkan:77");
    CHECK(run_program(ask + std::vector<std::string>{"--device", "cpu"}, "",
                      {{"HEADSCOPE_DEVICE", "vulkan:77"}})
              .code == 0);
}

TEST_CASE("HEADSCOPE_DEVICE names the device as --device does", "[cli]") {
    const std::map<std::string, std::string> no_driver{{"VK_ICD_FILENAMES", "/nonexistent"},
                                                       {"VK_DRIVER_FILES", "/nonexistent"}};
    const auto with = [&](const std::string& device) {
        auto environment = no_driver;
        environment["HEADSCOPE_DEVICE"] = device;
        return run_program({"trace", "a cat", "-o", "-"}, "", environment);
    };
    check_failure(with("vulkan"), 3, "no Vulkan driver");
    check_failure(with("vulkan:0"), 3, "no Vulkan driver");
    check_failure(with("abacus"), 1, "abacus");
    for (const char* device : {"auto", "cpu"}) {
        const ProgramRun run = with(device);
        INFO(device << ": " << run.err);
        REQUIRE(run.code == 0);
        CHECK(json::parse(run.out).at("device") == "cpu");
    }
    const json listed = json::parse(run_program({"devices", "--json"}, "", no_driver).out);
    if (listed.at("devices").size() > 1)
        FAIL_CHECK("a driver is found although none is named");
    CHECK(listed.at("auto") == "cpu");
}

TEST_CASE("output is written whole or not at all", "[cli]") {
    const TemporaryFolder folder;
    const auto arguments = case_arguments("s3_causal_bias", "8");
    const std::string path = folder.file("out.safetensors");
    check_failure(run_program(arguments + std::vector<std::string>{"-o", folder.file("no/out")}), 1,
                  "No such file");
    check_failure(run_program(arguments + std::vector<std::string>{"-o", folder.file("")}), 1,
                  "it is a folder");
    check_failure(run_program(arguments + std::vector<std::string>{"-o", "/dev/full"}), 1, "No space left");
    CHECK(folder.entries() == 0);

    // A limit on the size of files stands for a full disk: the old file survives.
    write_file_atomically(path, "old");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small{100'000, before.rlim_max};
    REQUIRE(::signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const ProgramRun full = run_program(arguments + std::vector<std::string>{"-o", path});
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    REQUIRE(::signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    check_failure(full, 1, path);
    CHECK(read_file(path) == "old");
    CHECK(folder.entries() == 1);

    CHECK(run_program(arguments + std::vector<std::string>{"-o", path}).code == 0);
    CHECK(format::Safetensors::open(path).entries().size() == stages_of().size());
    CHECK(folder.entries() == 1);
}

TEST_CASE("a sentence is traced with the words as tokens", "[cli]") {
    const json trace =
        trace_json({"trace", "The cat sat down", "--preset", "first-lesson", "--stages", "weights"});
    CHECK(trace["tokens"].size() == 4);
    CHECK(trace["stages"].size() == 1);
    const json& shape = trace["stages"]["weights"]["shape"];
    CHECK(shape[2] == 4);
    CHECK(shape[3] == 4);
    const ProgramRun piped =
        run_program({"trace", "-", "--stages", "weights", "-o", "-"}, "The cat sat down\n");
    REQUIRE(piped.code == 0);
    CHECK(json::parse(piped.out)["stages"] == trace["stages"]);
    // A sentence may be the name of a sub-command.
    CHECK(trace_json({"trace", "devices", "--stages", "x"})["tokens"] == json({"devices"}));
}

TEST_CASE("masks, gains, heads and temperature of the command line take effect", "[cli]") {
    const std::vector<std::string> sentence{"trace", "The cat sat down"};
    const auto causal = trace_json(sentence + std::vector<std::string>{"--mask", "causal"});
    CHECK(causal["stages"]["weights"]["values"][0][0][0][1] == 0.0);
    CHECK(causal["stages"]["masked"]["values"][0][0][0][1] == "-inf");
    CHECK(causal["config"]["mask"].back() == json::parse(R"({"kind":"causal"})"));

    const auto blind = trace_json(
        sentence + std::vector<std::string>{"--mask", R"([{"kind":"key_padding","key_valid":[0,0,0,0]}])",
                                            "--stages", "weights"});
    CHECK(blind["fully_masked_rows"] == json::parse("[[0,0],[0,1],[0,2],[0,3]]"));

    const auto two = case_arguments("s1_none_bias", "2");
    const auto plain = trace_json(two),
               off = trace_json(two + std::vector<std::string>{"--gain", "1=0", "--gain", "0=2"});
    CHECK(off["config"]["gains"] == json({2, 0}));
    CHECK(off["stages"]["head_out"] == plain["stages"]["head_out"]);
    for (std::size_t column = 0; column < 8; ++column) {
        const float was = plain["stages"]["concat"]["values"][0][0][column].get<float>();
        CHECK(off["stages"]["concat"]["values"][0][0][column].get<float>() == (column < 4 ? 2 * was : 0.0F));
    }
    const auto warm = trace_json(two + std::vector<std::string>{"--temperature", "4", "--stages", "scaled"});
    const float cold = plain["stages"]["scaled"]["values"][0][1][2][3].get<float>();
    CHECK(warm["stages"]["scaled"]["values"][0][1][2][3].get<float>() == Approx(cold / 4));
    CHECK(trace_json(sentence +
                     std::vector<std::string>{"--heads", "1", "--stages", "weights"})["config"]["H"] == 1);
}

TEST_CASE("one head keeps its axis", "[cli]") {
    const auto arguments =
        case_arguments("gqa_h8_kv2_causal", "8") + std::vector<std::string>{"--kv-heads", "2"};
    const auto all = trace_json(arguments),
               one = trace_json(arguments + std::vector<std::string>{"--head", "5"});
    CHECK(one["stages"]["weights"]["shape"] == json({1, 1, 6, 6}));
    CHECK(one["stages"]["weights"]["values"][0][0] == all["stages"]["weights"]["values"][0][5]);
    CHECK(one["stages"]["k_heads"]["values"][0][0] == all["stages"]["k_heads"]["values"][0][1]);
    CHECK(one["stages"]["output"] == all["stages"]["output"]);
}

TEST_CASE("a matrix is a batch of one, and a second file gives the weights", "[cli]") {
    const TemporaryFolder folder;
    const format::Safetensors given = format::Safetensors::open(cases + "s1_none_bias.safetensors");
    format::SafetensorsWriter tokens, weights;
    const TensorPtr x = given.tensor("X");
    tokens.add("X", make_tensor({x->shape()[1], x->shape()[2]}, x->values()));
    for (const format::SafetensorsEntry& entry : given.entries())
        if (entry.name.starts_with("W_") || entry.name.starts_with("b_"))
            weights.add(entry.name, given.tensor(entry.name));
    write_file_atomically(folder.file("x"), tokens.bytes());
    write_file_atomically(folder.file("w"), weights.bytes());
    const auto split =
        trace_json({"trace", "--case", folder.file("x"), "--weights", folder.file("w"), "--heads", "2"});
    CHECK(split["stages"] == trace_json(case_arguments("s1_none_bias", "2"))["stages"]);
    check_failure(run_program({"trace", "--case", folder.file("x"), "--heads", "2", "-o", "-"}), 1,
                  "no tensor W_Q");
}

TEST_CASE("devices lists what there is, and what auto takes", "[cli]") {
    const ProgramRun text = run_program({"devices"});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, Contains("cpu") && Contains("auto takes "));
    const json parsed = json::parse(run_program({"devices", "--json"}).out);
    REQUIRE(parsed["devices"].size() >= 1);
    CHECK(parsed["devices"][0]["id"] == "cpu");
    // The first graphics processor that can be used, else the CPU, with the reason for it.
    std::string taken = "cpu";
    for (const json& device : parsed["devices"])
        if (taken == "cpu" && device["graphics_processor"] == true && device["usable"] == true)
            taken = device["id"];
    CHECK(parsed["auto"] == taken);
    const std::string reason = taken != "cpu"                 ? "2 GFLOP or more"
                               : parsed["devices"].size() > 1 ? "software"
                                                              : "no graphics processor";
    CHECK_THAT(parsed["reason"].get<std::string>(), Contains(reason));
    CHECK_THAT(text.out, Contains("auto takes " + taken + ": "));
}

TEST_CASE("a machine without a Vulkan driver or loader says so and has its CPU", "[cli]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("libvulkan.so"), "");
    write_file_atomically(folder.file("libvulkan.so.1"), "");
    using Environment = std::map<std::string, std::string>;
    const Environment no_driver{{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}};
    const Environment no_loader{{"LD_LIBRARY_PATH", folder.file("")}};
    for (const auto& [environment, lacks] :
         {std::pair(no_driver, "no Vulkan driver"), std::pair(no_loader, "no Vulkan loader")}) {
        const ProgramRun listed = run_program({"devices"}, "", environment);
        CHECK(listed.code == 0);
        CHECK_THAT(listed.out, Contains("cpu: ") && Contains(lacks) && Contains("auto takes cpu"));
        for (const char* device : {"vulkan", "vulkan:0"})
            check_failure(run_program({"trace", "cat", "--device", device, "-o", "-"}, "", environment), 3,
                          lacks);
        CHECK(run_program({"trace", "cat", "--device", "auto", "-o", "-"}, "", environment).code == 0);
    }
}

TEST_CASE("two sentences: queries from one, keys and values from the other", "[cli]") {
    const json own = trace_json({"trace", "--preset", "translation", "--stages", "weights"});
    CHECK(own["kv_tokens"] == json({"Le", "chat", "boit", "de", "l'eau", "froide"}));
    const json given =
        trace_json({"trace", "The cat sat", "--kv-sentence", "A dog ran away", "--stages", "weights"});
    CHECK(given["tokens"] == json({"The", "cat", "sat"}));
    CHECK(given["kv_tokens"] == json({"A", "dog", "ran", "away"}));
    const json self =
        trace_json({"trace", "--preset", "translation", "--kv-sentence", "", "--stages", "weights"});
    CHECK_FALSE(self.contains("kv_tokens"));
    check_failure(run_program({"trace", "--preset", "cat-sleeps", "--kv-sentence", "Le chat", "-o", "-"}), 1,
                  "cat-sleeps");
    check_failure(run_program(case_arguments("s1_none_bias", "2") +
                              std::vector<std::string>{"--kv-sentence", "Le chat", "-o", "-"}),
                  2, "X_kv");
    check_failure(run_program({"trace", "a cat", "--kv-sentence", " ", "-o", "-"}), 1, "has no word");
}

TEST_CASE("--memory limits what a run takes, and says so", "[cli]") {
    const std::vector<std::string> run =
        case_arguments("s1_none_bias", "2") + std::vector<std::string>{"-o", "-", "--memory"};
    CHECK(run_program(run + std::vector<std::string>{"2GB"}).code == 0);
    for (const std::string size : {"a lot", "", "-1", "-1GB", "4XB", "GB", "18446744073709551616", "99EB"})
        check_failure(run_program(run + std::vector<std::string>{size}), 1,
                      "--memory: \"" + size + "\" is not a valid size (for example 4GB or 1500MB)");
    // 64 numbers of q for each token.
    const TemporaryFolder folder;
    const std::string wide = write_case(folder, 300'000, 1, 64);
    const auto limited_to = [&](const std::string& size) {
        return run_program(
            {"trace", "--case", wide, "--heads", "64", "--stages", "q", "-o", "-", "--memory", size});
    };
    // The program and 300,000 labels take 20 to 80 MB before the run is checked.
#ifndef SANITIZER_TAKES_ADDRESSES // this alone takes more
    check_failure(limited_to("90MB"), 3, "this run needs 77 MB of memory, and the memory limit leaves");
#endif
    check_failure(limited_to("1KB"), 3, "and --memory allows 1 KB; raise --memory");
}

TEST_CASE("stages that do not fit into memory are written some rows at a time", "[cli]") {
    const TemporaryFolder folder;
#ifdef SANITIZER_TAKES_ADDRESSES
    const std::string memory = "1GB"; // most of it is the sanitizer's
#else
    const std::string memory = "120MB";
#endif
    const auto run = [&](std::int64_t T, const std::vector<std::string>& more) {
        const std::vector<std::string> arguments{
            "trace", "--case", write_case(folder, T, 8, 8), "--heads", "1", "--memory", memory};
        const ProgramRun done = run_program(arguments + more, "", {}, {.most_memory = 400 * mebibyte});
        INFO(done.err);
        CHECK(done.code == 0);
    };
    // Each stage has as much as all of the program may have.
    for (const std::string format : {"safetensors", "npy"})
        run(10'000,
            {"--mask", "causal", "--stages", format == "npy" ? "masked" : "scores,scaled,masked,weights",
             "--format", format, "-o", "/dev/null"});

    const std::string path = folder.file("a.safetensors"), npy = folder.file("folder");
    run(3000, {"--mask", "causal", "--stages", "scores,scaled,masked,weights,output", "-o", path});
    run(3000, {"--mask", "causal", "--stages", "scores,masked", "--format", "npy", "-o", npy});
    const format::Safetensors file = format::Safetensors::open_lazily(path);
    CHECK(file.entries().size() == 5);
    const std::string masked = read_file(npy + "/masked.npy");
    constexpr std::uint64_t stage = std::uint64_t{3000} * 3000;
    REQUIRE(masked.size() == 128 + stage * sizeof(float));
    std::vector<float> numbers(stage);
    file.read_numbers("masked", 0, numbers);
    CHECK(std::memcmp(masked.data() + 128, numbers.data(), stage * sizeof(float)) == 0);
    CHECK(std::isfinite(numbers[1500 * 3000 + 1500]));
    CHECK(std::isinf(numbers[1500 * 3000 + 1501]));

    // Rows that may attend to nothing are in the metadata, although no small stage was asked for.
    run(3000,
        {"--mask", R"([{"kind":"explicit","allowed":[[0]]}])", "--stages", "scores,weights", "-o", path});
    const json rows = json::parse(format::Safetensors::open_lazily(path).metadata().at("fully_masked_rows"));
    CHECK(rows.size() == 3000);
}

TEST_CASE("a stage that is written by rows is written whole or not at all", "[cli]") {
    const TemporaryFolder folder;
    const std::vector<std::string> arguments{"trace",          "--case",  write_case(folder, 6000, 8, 8),
                                             "--heads",        "1",       "--stages",
                                             "scores,weights", "--format"};
    const ProgramSurroundings full{.most_bytes = 100 * mebibyte};
    write_file_atomically(folder.file("old"), "old");
    check_failure(run_program(arguments + std::vector<std::string>{"safetensors", "-o", folder.file("old")},
                              "", {}, full),
                  1, "cannot write");
    check_failure(
        run_program(arguments + std::vector<std::string>{"npy", "-o", folder.file("new")}, "", {}, full), 1,
        "cannot write");
    CHECK(read_file(folder.file("old")) == "old");
    CHECK(folder.entries() == 2);
}

TEST_CASE("a trace of a model with sinks is measured as the model is, without a warning", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("sinks.safetensors"),
                      model = headscope::test_data("/models/gpt_oss_tiny");
    // Each id appears only once: a file without tokens does not show repetitions.
    const std::vector<std::string> text{"--model", model, "--ids", "5,9,6,8,17"};
    REQUIRE(
        run_program(std::vector<std::string>{"trace"} + text + std::vector<std::string>{"-o", path}).code ==
        0);
    const ProgramRun of_file = run_program({"heads", "--attention", path, "--json"});
    CHECK(of_file.err.empty());
    const json rows = json::parse(of_file.out),
               wanted = json::parse(
                   run_program(std::vector<std::string>{"heads"} + text + std::vector<std::string>{"--json"})
                       .out);
    REQUIRE(rows.size() == wanted.size());
    for (std::size_t n = 0; n < rows.size(); ++n) {
        CHECK_FALSE(rows[n].contains("warnings"));
        CHECK(rows[n].at("label") == wanted[n].at("label"));
        for (const char* score : {"first", "previous", "entropy", "largest", "distance"})
            CHECK(rows[n].at(score).get<double>() == Approx(wanted[n].at(score).get<double>()).margin(1e-6));
    }
}
