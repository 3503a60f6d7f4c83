#include "core/checkpoint/model/text_model.h"
#include "core/format/safetensors.h"
#include "core/project/checkpoint_project.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/pair_folder.h"

#include <algorithm>

namespace headscope::test {

using Catch::Contains;
using nlohmann::json;

namespace {

using Arguments = std::vector<std::string>;

Arguments joined_words(Arguments words, const Arguments& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

ProgramRun run_well(const Arguments& words) {
    ProgramRun run = run_program(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return run;
}

void check_refused(const Arguments& words, int code, const std::string& part) {
    const ProgramRun run = run_program(words);
    INFO(run.err);
    CHECK(run.code == code);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Contains(part));
}

double off(const std::string& path) {
    return off_golden_pair(*format::Safetensors::open(path).tensor("logits"));
}

/// The folder, and the words that give its two texts.
struct PairFolder {
    TemporaryFolder folder;
    std::string model = make_pair_folder(folder), out = folder.file("out.safetensors");
    Arguments both{"--model", model, "--text", first_of_pair, "--text-pair", second_of_pair},
        one{"--model", model, "--text", pair_as_one};
};

} // namespace

TEST_CASE("--text-pair gives the numbers of Hugging Face's code for two texts", "[cli][pair]") {
    const PairFolder pair;
    CHECK(run_well(joined_words({"trace", "-o", pair.out}, pair.both)).err.empty());
    const format::Safetensors file = format::Safetensors::open(pair.out);
    CHECK(file.integers("token_type_ids") == std::vector<std::int64_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    CHECK(off(pair.out) < 1e-4);
    // The first text of a file, and texts that begin with a hyphen.
    write_file_atomically(pair.folder.file("first.txt"), first_of_pair);
    run_well({"trace", "-o", pair.out, "--model", pair.model, "--text-file", pair.folder.file("first.txt"),
              "--text-pair=" + second_of_pair});
    CHECK(off(pair.out) < 1e-4);
}

TEST_CASE("a separator inside --text keeps all types 0, with a warning that names --text-pair",
          "[cli][pair]") {
    const PairFolder pair;
    const std::string warning = "--text \"" + first_of_pair + "\" --text-pair \"" + second_of_pair + "\"";
    CHECK_THAT(run_well(joined_words({"trace", "-o", pair.out}, pair.one)).err,
               Contains("w55 inside one text") && Contains(warning));
    CHECK(off(pair.out) > 0.1);
    CHECK_FALSE(format::Safetensors::open(pair.out).has("token_type_ids"));
    for (const Arguments& command : std::vector<Arguments>{
             {"heads", "--json"},
             {"explain", "--what", "lens"},
             {"map", "--head", "0", "--rect", "0:3,0:3", "-o", pair.folder.file("map.npy")},
             {"render", "--window", "-o", pair.folder.file("out.png")}}) {
        INFO(command.front());
        CHECK_THAT(run_well(joined_words(command, pair.one)).err, Contains(warning));
        CHECK(run_well(joined_words(command, pair.both)).err.find("inside one text") == std::string::npos);
    }
    // No warning where there is nothing to warn of.
    CHECK(run_well({"trace", "-o", pair.out, "--model", pair.model, "--text", first_of_pair}).err.empty());
}

TEST_CASE("a separator inside the lines of a set of prompts gives each warning as a whole", "[cli][pair]") {
    const PairFolder pair;
    const std::string path = pair.folder.file("prompts.txt");
    constexpr int count = 400;
    std::string prompts;
    for (int n = 0; n < count; ++n)
        prompts += pair_as_one + "\n";
    write_file_atomically(path, prompts);
    const std::string warning =
        run_well(joined_words({"explain", "--what", "lens", "-o", pair.out + ".json"}, pair.one)).err;
    std::string expected;
    for (int n = 0; n < count; ++n)
        expected += warning;
    CHECK(run_well({"explain", "--what", "lens", "--model", pair.model, "--prompts", path, "-o",
                    pair.out + "s.json"})
              .err == expected);
}

TEST_CASE("every command that reads --text reads --text-pair", "[cli][pair]") {
    const PairFolder pair;
    // heads, export and map read types from a file as well.
    const std::string npy = pair.folder.file("out.npy");
    const Arguments same{"--model", pair.model, "--inputs", pair.folder.file("pair/first.safetensors")};
    run_well(joined_words({"trace", "-o", same.back()}, pair.both)); // holds input_ids and token_type_ids
    for (const Arguments& command :
         std::vector<Arguments>{{"heads", "--json"},
                                {"map", "--head", "1", "--rect", "0:11,0:11", "-o", npy},
                                {"export", "--tensor", "weights", "--layer", "1", "-o", npy}}) {
        INFO(command.front());
        const auto answer = [&](const Arguments& words) {
            const ProgramRun run = run_well(joined_words(command, words));
            return command.front() == "heads" ? run.out : read_file(npy);
        };
        const bool equal = answer(pair.both) == answer(same), as_one = answer(pair.both) == answer(pair.one);
        CHECK(equal);
        CHECK_FALSE(as_one);
    }
    // The answer of explain is the logit of the golden case.
    const ModelCase golden = load_model_case("bert_tiny");
    const json explained = json::parse(
        run_well(joined_words({"explain", "--what", "lens", "--top", "1", "--position", "3"}, pair.both))
            .out);
    const json last = explained.at("layers").back().at("positions").at(0).at("top").at(0);
    const float* const logits = golden.logits.data() + 3 * golden.vocab;
    CHECK(last.at("id") == std::max_element(logits, logits + golden.vocab) - logits);
    const auto lens = [&](const Arguments& words) {
        return run_well(joined_words({"explain", "--what", "lens"}, words)).out;
    };
    CHECK(lens(pair.both) != lens(pair.one));
    // patch takes decoders: the second text of both prompts gives what their ids give.
    const std::filesystem::path decoder = pair.folder.file("decoder");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), decoder);
    std::filesystem::copy(pair.model + "/tokenizer.json", decoder / "tokenizer.json");
    const Arguments patch{"patch",       "--what", "residual",     "--model", decoder.string(),
                          "--answer-id", "3",      "--against-id", "4"};
    CHECK(run_well(joined_words(patch, {"--clean", first_of_pair, "--corrupted", "w168 w71 w139",
                                        "--text-pair", second_of_pair}))
              .out ==
          run_well(joined_words(patch, {"--clean-ids", "141,168,70,139,55,168,39,27,132,76,38",
                                        "--corrupted-ids", "141,168,71,139,55,168,39,27,132,76,38"}))
              .out);
    // The window's picture shows both texts and the run of both.
    const auto picture = [&](const Arguments& words) {
        run_well(joined_words({"render", "--window", "--size", "1280x720", "-o", pair.folder.file("w.png")},
                              words));
        return read_file(pair.folder.file("w.png"));
    };
    const bool differs = picture(pair.both) != picture(pair.one);
    CHECK(differs);
}

TEST_CASE("--text-pair is refused where there is no form for two texts", "[cli][pair]") {
    const PairFolder pair;
    const std::filesystem::path gpt2 = pair.folder.file("gpt2");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), gpt2);
    write_file_atomically((gpt2 / "tokenizer.json").string(),
                          read_file(test_data("/tokenizers/gpt2_like/tokenizer.json")));
    const Arguments alone{"--model", gpt2.string(), "--text", "a", "--text-pair", "b"};
    for (const Arguments& command :
         std::vector<Arguments>{{"trace", "-o", pair.out},
                                {"heads"},
                                {"generate", "--tokens", "1"},
                                {"explain", "--what", "logits"},
                                {"render", "--window", "-o", pair.folder.file("w.png")}}) {
        INFO(command.front());
        check_refused(joined_words(command, alone), 2, "has no form for two texts");
    }
    const Arguments ids{"--model", test_data("/models/gpt2_tiny"), "--text", "3,1", "--text-pair", "4"};
    check_refused(joined_words({"trace", "-o", pair.out}, ids), 1, "no tokenizer.json");
    check_refused(joined_words({"explain", "--what", "logits"}, ids), 1, "has no tokenizer");
    check_refused({"trace", "--model", pair.model, "--text-pair", "b", "-o", pair.out}, 2, "--text");
    check_refused({"trace", "--model", pair.model, "--ids", "3", "--text-pair", "b", "-o", pair.out}, 2,
                  "--text-pair");
    check_refused({"heads", "--model", pair.model, "--probe", "--text-pair", "b"}, 2, "--text-pair");
    check_refused({"explain", "--model", pair.model, "--what", "logits", "--ids", "3", "--text-pair", "b"}, 2,
                  "--text");
    check_refused(joined_words({"explain", "--what", "vocabulary", "--layer", "0", "--head", "0"}, pair.both),
                  2, "");
    check_refused({"--text-pair", "b"}, 2, "PATH");
}

TEST_CASE("--project keeps two texts", "[cli][pair][checkpoint_project]") {
    const PairFolder pair;
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(pair.model);
    const std::string path = pair.folder.file("p.headscope");
    project::save_checkpoint_project(
        *model->model, {},
        {.model = project::model_location(pair.model, path),
         .text = first_of_pair,
         .text_pair = second_of_pair,
         .ids = checkpoint::prompt_inputs(*model, first_of_pair, {}, second_of_pair).ids},
        path);
    CHECK(project::open_checkpoint_project(path).project.text_pair == second_of_pair);
    run_well({"trace", "--project", path, "-o", pair.out});
    CHECK(off(pair.out) < 1e-4);
    for (const Arguments& command :
         std::vector<Arguments>{{"heads", "--json"}, {"explain", "--what", "lens"}}) {
        INFO(command.front());
        CHECK(run_well(joined_words(command, {"--project", path})).out ==
              run_well(joined_words(command, pair.both)).out);
    }
    const auto answer = [&](const Arguments& words) {
        return run_well(joined_words({"explain", "--what", "lens"}, words)).out;
    };
    CHECK(answer({"--project", path, "--text", pair_as_one}) == answer(pair.one));
    CHECK(answer({"--project", path, "--text-pair", "w3"}) ==
          answer({"--model", pair.model, "--text", first_of_pair, "--text-pair", "w3"}));
    CHECK_THAT(run_well({"tokenize", "--project", path}).out, Contains("type 1"));
}

TEST_CASE("line ends and tabs of a text are tokens, wherever it comes from", "[cli][pair]") {
    const TemporaryFolder folder;
    const std::filesystem::path gpt2 = folder.file("gpt2");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), gpt2);
    write_file_atomically((gpt2 / "tokenizer.json").string(),
                          read_file(test_data("/tokenizers/gpt2_like/tokenizer.json")));
    const std::string text = "a\tb\nc\n", file = folder.file("text.txt"),
                      out = folder.file("out.safetensors");
    write_file_atomically(file, text);
    for (const Arguments& given : std::vector<Arguments>{{"--text", text}, {"--text-file", file}}) {
        run_well(joined_words({"trace", "--model", gpt2.string(), "-o", out}, given));
        CHECK(format::Safetensors::open(out).integers("input_ids") ==
              std::vector<std::int64_t>{64, 197, 65, 198, 66, 198});
    }
    // The sentence of a preset takes them as blanks.
    CHECK(run_well({"trace", "the\tcat\r\nsat", "--format", "json", "-o", "-"}).out ==
          run_well({"trace", "the cat sat", "--format", "json", "-o", "-"}).out);
}

} // namespace headscope::test
