#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>
#include <sstream>

using headscope::read_file;
using headscope::test::run_program;
using nlohmann::json;

namespace {

const std::string tokenizers = headscope::test_data("/tokenizers/");

} // namespace

TEST_CASE("tokenize prints the reference ids, tokens and offsets of every text", "[cli][cli][tokenizer]") {
    const json strings = json::parse(read_file(tokenizers + "strings.json"));
    std::string lines;
    for (const json& text : strings)
        lines += text.dump() + "\n";
    for (const std::string name : {"gpt2_like", "bert_like_uncased", "llama3_like", "llama2_like"}) {
        const auto run =
            run_program({"tokenize", "--tokenizer", tokenizers + name, "--text-file", "-", "--json"}, lines);
        REQUIRE(run.code == 0);
        const json cases = json::parse(read_file(tokenizers + name + "/cases.json"))["cases"];
        std::istringstream out(run.out);
        std::string line;
        for (const json& expected : cases) {
            INFO(name << ' ' << strings[expected["i"].get<std::size_t>()].dump());
            REQUIRE(std::getline(out, line));
            CHECK(json::parse(line) == json{{"ids", expected["ids"]},
                                            {"tokens", expected["tokens"]},
                                            {"offsets", expected["offsets"]}});
        }
        CHECK_FALSE(std::getline(out, line));
    }
}

TEST_CASE("tokenize prints one readable line for each token", "[cli][cli][tokenizer]") {
    const auto run =
        run_program({"tokenize", "--tokenizer", tokenizers + "gpt2_like/tokenizer.json", "end<|endoftext|>"});
    CHECK(run.code == 0);
    CHECK(run.out == "     68  \"e\"  0..1\n    264  \"nd\"  1..3\n    556  \"<|endoftext|>\"  3..16\n");
    const auto empty = run_program({"tokenize", "--tokenizer", tokenizers + "gpt2_like", "--json", ""});
    CHECK(empty.out == "{\"ids\":[],\"tokens\":[],\"offsets\":[]}\n");
}

TEST_CASE("tokenize tells wrong usage from wrong input", "[cli][cli][tokenizer]") {
    const std::string tokenizer = tokenizers + "gpt2_like";
    CHECK(run_program({"tokenize", "text"}).code == 2);
    CHECK(run_program({"tokenize", "--tokenizer", tokenizer}).code == 2);
    CHECK(run_program({"tokenize", "--tokenizer", tokenizer, "text", "--text-file", "-"}).code == 2);
    CHECK(run_program({"tokenize", "--tokenizer", tokenizers, "text"}).code == 1);
    CHECK(run_program({"tokenize", "--tokenizer", tokenizer, "--text-file", "-"}, "\"a\"\n3\n").code == 1);
    CHECK(run_program({"tokenize", "--tokenizer", tokenizer, "\xff"}).code == 1);
}
