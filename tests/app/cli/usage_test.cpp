#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <thread>
#include <tuple>

using namespace headscope;
using Catch::Contains;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;
using nlohmann::json;

TEST_CASE("what cannot be printed is said", "[cli]") {
    const std::vector<std::vector<std::string>> calls{{"--help"},
                                                      {"--version"},
                                                      {"trace", "--help"},
                                                      {"lesson", "list"},
                                                      {"lesson", "list", "--json"},
                                                      {"lesson", "play", "masks"},
                                                      {"devices"},
                                                      {"trace", "Cat sleeps", "-o", "-"}};
    for (const std::vector<std::string>& call : calls) {
        CAPTURE(call.front(), call.back());
        const ProgramRun full = run_program(call, "", {}, {.out_path = "/dev/full"});
        CHECK(full.code == 1);
        CHECK_THAT(full.err, Contains("cannot write standard output: No space left on device"));
        CHECK(run_program(call).code == 0);
    }
}

TEST_CASE("a limit on the size of files is answered like a full disk", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out.json");
    const ProgramRun run = run_program({"trace", "Cat sleeps", "-o", path}, "", {}, {.most_bytes = 1000});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains("cannot write " + path + ": File too large") && Contains("ulimit -f"));
    CHECK(folder.entries() == 0);
    const std::string printed = folder.file("printed");
    const ProgramRun help = run_program({"--help"}, "", {}, {.out_path = printed, .most_bytes = 1000});
    CHECK(help.code == 1);
    CHECK_THAT(help.err, Contains("cannot write standard output: File too large"));
}

TEST_CASE("numbers of options are whole, in range and finite, in every command", "[cli]") {
    struct Call {
        std::vector<std::string> words;
        std::string option, value, said;
    };
    const std::vector<std::string> trace{"trace", "Cat sleeps", "-o", "-"},
        generate{"generate", "--model", "pocket", "--text", "Mary", "--tokens", "1"},
        render{"render", "-o", "/dev/null/x.png"}, heads{"heads", "--model", "pocket", "--text", "Mary"};
    const std::string whole = "is not a whole number such as", finite = "is not a finite number such as";
    const std::string natural = "is not a whole number from 0 to 18446744073709551615";
    const std::vector<Call> calls{{trace, "--seed", "-1", natural},
                                  {trace, "--seed", "18446744073709551616", natural},
                                  {trace, "--seed", "", natural},
                                  {trace, "--seed", "1.5", natural},
                                  {trace, "--heads", "", whole},
                                  {trace, "--heads", "0x2", whole},
                                  {trace, "--heads", "9223372036854775808", whole},
                                  {trace, "--head", " 1", whole},
                                  {trace, "--temperature", "", finite},
                                  {trace, "--temperature", "inf", finite},
                                  {trace, "--temperature", "nan", finite},
                                  {trace, "--temperature", "1e39", finite},
                                  {generate, "--seed", "-1", natural},
                                  {generate, "--top-p", "inf", finite},
                                  {generate, "--top-k", "", whole},
                                  {render, "--scale", "nan", finite},
                                  {render, "--step", "", whole},
                                  {heads, "--layer", "", whole}};
    for (const Call& call : calls) {
        std::vector<std::string> words = call.words;
        words.insert(words.end(), {call.option, call.value});
        const ProgramRun run = run_program(words);
        CAPTURE(call.words.front(), run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(call.option + ": \"" + call.value + "\" " + call.said));
        CHECK(run.out.empty());
    }
    CHECK(run_program({"trace", "Cat sleeps", "--seed", "18446744073709551615", "-o", "-"}).code == 0);
}

TEST_CASE("an unknown command is named, with the nearest", "[cli]") {
    const auto said = [](const std::vector<std::string>& words) {
        const ProgramRun run = run_program(words);
        CHECK(run.code == 2);
        return run.err;
    };
    CHECK_THAT(said({"genrate", "--model", "pocket", "--text", "Mary"}),
               Contains("there is no command \"genrate\"; the nearest is \"generate\""));
    CHECK_THAT(said({"lesson", "chekc", "masks.md"}),
               Contains("there is no command \"lesson chekc\"; the nearest is \"lesson check\""));
    CHECK_THAT(said({"explian"}), Contains("there is no command \"explian\"; the nearest is \"explain\""));
    for (const char* far : {"foo", "help"})
        CHECK_THAT(said({far}), Contains("there is no command \"" + std::string(far) + "\"; see headscope"));
    CHECK_THAT(said({"pocket", "--stage", "x"}), Contains("--stage") && !Contains("no command"));
    CHECK_THAT(said({"trace", "Cat", "sleeps", "-o", "-"}), Contains("sleeps") && !Contains("no command"));
}

TEST_CASE("an empty place in a list of ids is refused", "[cli]") {
    const std::string model = test_data("/models/gpt2_tiny");
    for (const char* list : {"1,,2", "1,2,", ",1", ","})
        for (const auto& ids : {std::vector<std::string>{"--ids", list}, {"--ids=" + std::string(list)}}) {
            std::vector<std::string> words{"trace", "--model", model, "-o", "-"};
            words.insert(words.end(), ids.begin(), ids.end());
            const ProgramRun run = run_program(words);
            CHECK(run.code == 1);
            CHECK_THAT(run.err, Contains("--ids " + std::string(list) + " has an empty entry"));
        }
}

TEST_CASE("an empty name of a file is refused", "[cli]") {
    const std::string empty = ": the name is empty; name a file or a folder";
    const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
        {{"trace", "Cat sleeps", "-o", ""}, "--output"},
        {{"trace", "--case", "", "--heads", "1", "-o", "-"}, "--case"},
        {{"trace", "--model", "", "--ids", "1", "-o", "-"}, "--model"},
        {{"tokenize", "--tokenizer", "", "text"}, "--tokenizer"},
        {{"lesson", "check", ""}, "FILE"},
        {{"model", "info", ""}, "DIR"},
        {{"survey", "show", "", "--layer", "0", "--head", "0"}, "file"},
        {{""}, "PATH"}};
    for (const auto& [words, option] : calls) {
        const ProgramRun run = run_program(words);
        CAPTURE(words.front(), run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(option + empty));
    }
}

TEST_CASE("an empty word is refused", "[cli]") {
    const std::string empty = ": the word is empty; give one, such as Mary";
    const std::vector<std::string> render{"render", "--window", "--model",  "pocket", "-o",
                                          "-",      "--text",   "Mary had", "--size", "640x400"},
        logits{"explain", "--model", "pocket", "--text", "Mary", "--what", "logits"},
        patch{"patch", "--model", "pocket", "--clean", "Mary", "--corrupted", "John", "--what", "head"};
    const std::vector<std::tuple<std::vector<std::string>, std::vector<std::string>, std::string>> calls{
        {render, {"--screen", "circuits", "--token", ""}, "--token"},
        {render, {"--screen", "effects", "--token", ""}, "--token"},
        {render, {"--screen", "effects", "--against", ""}, "--against"},
        {logits, {"--token", ""}, "--token"},
        {logits, {"--against", ""}, "--against"},
        {patch, {"--answer", "", "--against", "John"}, "--answer"}};
    for (const auto& [words, more, option] : calls) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        const ProgramRun run = run_program(all);
        CAPTURE(words.front(), run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(option + empty));
        CHECK(run.out.empty());
    }
}

TEST_CASE("the language of lessons may be given as a locale", "[cli]") {
    const std::string german = run_program({"lesson", "list", "--language", "de"}).out;
    CHECK_THAT(german, Contains("Von Hand: Cat sleeps"));
    for (const char* locale : {"de_DE.UTF-8", "de_AT", "de-CH"}) {
        INFO(locale);
        CHECK(run_program({"lesson", "list", "--language", locale}).out == german);
    }
    const std::vector<std::string> words{"render", "--window", "--lesson",  "first-lesson",
                                         "--step", "2",        "--size",    "640x400",
                                         "-o",     "-",        "--language"};
    std::vector<std::string> short_name = words, locale = words;
    short_name.emplace_back("de");
    locale.emplace_back("de_DE.UTF-8");
    CHECK(run_program(short_name).out == run_program(locale).out);
}

TEST_CASE("a survey names the checkpoint as it was given", "[cli]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("texts.txt"), "Mary had a dog.\n");
    const std::string out = folder.file("out.db");
    REQUIRE(
        run_program({"survey", "--model", "pocket", "--texts", folder.file("texts.txt"), "-o", out}).code ==
        0);
    const ProgramRun shown = run_program({"survey", "show", out, "--layer", "2", "--head", "7"});
    CHECK(shown.code == 0);
    CHECK_THAT(shown.out, Contains("\npocket over 1 text of "));
    CHECK_THAT(run_program({"survey", "show", out, "--layer", "2", "--head", "7", "--json"}).out,
               Contains("\"checkpoint\": \"pocket\""));
}

TEST_CASE("every command that computes takes a device, and says where it is not used", "[cli]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("texts.txt"), "Mary had a dog.\n");
    const std::vector<std::vector<std::string>> calls{
        {"generate", "--model", "pocket", "--text", "Mary", "--tokens", "1"},
        {"explain", "--model", "pocket", "--text", "Mary", "--what", "logits"},
        {"patch", "--model", "pocket", "--clean", "Mary", "--corrupted", "John", "--answer", "Mary",
         "--against", "John", "--what", "head"},
        {"survey", "--model", "pocket", "--texts", folder.file("texts.txt"), "-o", folder.file("out.db")}};
    for (std::vector<std::string> words : calls) {
        CAPTURE(words.front());
        words.insert(words.end(), {"--device", "vulkan:99"});
        CHECK(run_program(words).code == 3);
        words.back() = "gpu";
        CHECK(run_program(words).code == 1);
        words.back() = "cpu";
        const ProgramRun run = run_program(words);
        CHECK(run.code == 0);
        CHECK(run.err.empty());
    }
}

TEST_CASE("explain refuses a text for a question about the weights alone", "[cli]") {
    const std::vector<std::string> words{"explain", "--model", "pocket", "--what",  "vocabulary", "--layer",
                                         "2",       "--head",  "7",      "--token", "Mary"};
    CHECK(run_program(words).code == 0);
    for (const auto& [option, text] : {std::pair("--text", "Mary had a dog."), {"--ids", "1,2"}}) {
        std::vector<std::string> with_text = words;
        with_text.insert(with_text.end(), {option, text});
        const ProgramRun run = run_program(with_text);
        CHECK(run.code == 2);
        CHECK_THAT(run.err, Contains("--what vocabulary does not read " + std::string(option)));
        CHECK(run.out.empty());
    }
}

TEST_CASE("the screen of circuits reads the token that is named", "[cli]") {
    std::vector<std::string> words{"render",   "--window", "--model", "pocket",  "--text", "Mary had a dog.",
                                   "--screen", "circuits", "--size",  "640x400", "-o",     "-"};
    const std::string last = run_program(words).out;
    words.insert(words.end(), {"--token", "John"});
    const ProgramRun named = run_program(words);
    CHECK(named.code == 0);
    CHECK(named.out != last);
}

TEST_CASE("a tokenizer may come from a pipe, or be that of the model that comes with the program", "[cli]") {
    const TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::string path = test_data("/tokenizers/gpt2_like/tokenizer.json");
    std::thread writer([&] { std::ofstream(pipe) << read_file(path); });
    const ProgramRun piped = run_program({"tokenize", "--tokenizer", pipe, "hello world"});
    writer.join();
    CHECK(piped.code == 0);
    CHECK(piped.out == run_program({"tokenize", "--tokenizer", path, "hello world"}).out);
    CHECK_THAT(run_program({"tokenize", "--tokenizer", "pocket", "Mary"}).out, Contains("Mary"));
}

TEST_CASE("a folder of lessons that is not there is told", "[cli]") {
    for (const char* command : {"list", "play"}) {
        const ProgramRun run = command == std::string("list")
                                   ? run_program({"lesson", "list", "--lessons", "/nowhere"})
                                   : run_program({"lesson", "play", "masks", "--lessons", "/nowhere"});
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains("there is no folder /nowhere to read lessons from"));
    }
}

TEST_CASE("a lesson with faults is asked for by its id, or by its file's name, and says them", "[cli]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("worse.md"), "---\nid: [\n---\n");
    write_file_atomically(folder.file("some.md"), "---\nid: dance\n---\n");
    const auto played = [&](const char* name) {
        const ProgramRun run = run_program({"lesson", "play", name, "--lessons", folder.file("")});
        CHECK(run.code == 1);
        return run.err;
    };
    CHECK_THAT(played("dance"), Contains("some.md:"));
    CHECK_THAT(played("worse"), Contains("worse.md:"));
    CHECK_THAT(played("none"),
               Contains("there is no lesson \"none\"; there are ") && !Contains(", ,") && !Contains("dance"));
}

TEST_CASE("a number is refused as it was given", "[cli]") {
    CHECK_THAT(run_program({"trace", "the cat", "--temperature", "0", "-o", "-"}).err,
               Contains("the temperature is 0; it should be above 0"));
}

TEST_CASE("a stop of the strip is a stage that can be drawn", "[cli]") {
    const TemporaryFolder folder;
    const auto drawn = [&](const std::string& name) {
        const std::string path = folder.file("out.svg");
        CHECK(run_program({"render", "Cat sleeps", "--stage", name, "-o", path}).code == 0);
        return read_file(path);
    };
    CHECK(drawn("split") == drawn("q_heads"));
    CHECK(drawn("q k v") == drawn("q"));
    const ProgramRun run = run_program({"render", "--stage", "wings", "-o", folder.file("out.svg")});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains("there is no stage \"wings\"") && Contains(", split"));
    CHECK_THAT(run.err, !Contains("q_normed") && !Contains("attn_raw"));
    CHECK(run_program({"render", "--stage", "q_normed", "-o", folder.file("out.svg")}).err.find("no stage") !=
          std::string::npos);
    const ProgramRun model = run_program({"render", "--window", "--model", "pocket", "--text", "The cat",
                                          "--stage", "routing", "-o", folder.file("out.png")});
    CHECK(model.code == 1);
    CHECK_THAT(model.err, Contains("mlp_gate") && Contains("norm2, ") && !Contains("mlp_raw") &&
                              !Contains("attn_raw") && !Contains("q_normed") && !Contains("routing,"));
}

TEST_CASE("an option that is missing says what it is for, and an unknown one which it may have meant",
          "[cli]") {
    const auto said = [](const std::vector<std::string>& call) {
        const ProgramRun run = run_program(call);
        CHECK(run.code == 2);
        return run.err;
    };
    CHECK_THAT(said({"trace", "Cat sleeps"}),
               Contains("--output is required: the file to write") && Contains("see headscope trace --help"));
    CHECK_THAT(said({"heads", "--laier", "3"}), Contains("the nearest is --layer"));
    CHECK_THAT(said({"heads", "--tezt", "3"}), Contains("the nearest is --text"));
    CHECK_THAT(said({"prompts", "--task", "ioi"}), Contains("write its value alone, without --task"));
    // The value of an unknown option is taken for a sentence, which is not what is wrong.
    CHECK_THAT(said({"render", "--model", "pocket", "--tekst", "a b", "-o", "x.png"}),
               Contains("not expected: --tekst") && Contains("the nearest is --text"));
    CHECK_THAT(said({"trace", "--model", "pocket", "--unheard-of", "a b"}), !Contains("excludes"));
    CHECK_THAT(said({"heads", "--quux", "3"}), !Contains("nearest"));
}

TEST_CASE("the name of a file or folder is not run as a sentence", "[cli]") {
    const std::string model = test_data("/models/gpt2_tiny");
    const ProgramRun run = run_program({"heads", model});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains("is a checkpoint, and a sentence is expected; write --model " + model));
    const std::string tensors = test_data("/attention/lh_f32.npy");
    for (const char* command : {"heads", "export"}) // these commands do not have the option
        CHECK_THAT(run_program({command, tensors, "-o", "-"}).err,
                   Contains("heads and render take --attention " + tensors));
    CHECK(run_program({"heads", "-"}, model + "\n").code == 0);
}

TEST_CASE("a checkpoint without a tokenizer asks for token ids, and tokenize takes a model by --model",
          "[cli]") {
    const std::string model = test_data("/models/gpt2_tiny");
    const ProgramRun run = run_program({"trace", "--model", model, "--text", "1 2 3", "-o", "-"});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains("or token ids: --ids 1,2,3"));
    CHECK(run_program({"tokenize", "--model", "pocket", "Mary"}).out ==
          run_program({"tokenize", "--tokenizer", "pocket", "Mary"}).out);
}

namespace {

/// A float32 file of one head with T x T weights, and its tokens; the path.
std::string one_head(const TemporaryFolder& folder, const std::vector<float>& weights, std::size_t T,
                     const json& tokens) {
    const std::string path = folder.file("head.npy"), shape = std::to_string(T);
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, " + shape + ", " + shape + ")}";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
    file.write(reinterpret_cast<const char*>(weights.data()),
               static_cast<std::streamsize>(weights.size() * sizeof(float)));
    std::ofstream(folder.file("head.tokens.json")) << tokens.dump();
    return path;
}

/// Returns the rows of `headscope heads`, and its standard error.
std::pair<json, std::string> heads(std::vector<std::string> options) {
    options.insert(options.begin(), {"heads", "--json"});
    const ProgramRun run = run_program(options);
    REQUIRE(run.code == 0);
    return {json::parse(run.out), run.err};
}

} // namespace

TEST_CASE("heads says which label was found apart from the first token", "[cli]") {
    const std::string file = test_data("/attention/gpt2_planet_f16.npy");
    const auto [rows, err] = heads({"--attention", file});
    CHECK(err.empty());
    CHECK(rows[5 * 12 + 6]["label"] == "previous token");
    CHECK(rows[5 * 12 + 6]["beside_first_token"] == true);
    CHECK(rows[4 * 12 + 11]["label"] == "previous token");
    CHECK_FALSE(rows[4 * 12 + 11].contains("beside_first_token"));
    CHECK_THAT(run_program({"heads", "--attention", file}).out,
               Contains("previous token (apart from the first token)"));
}

TEST_CASE("heads measures without the first token's column", "[cli]") {
    const TemporaryFolder folder;
    const std::string path =
        one_head(folder, {1, 0, 0, 0.5F, 0.5F, 0, 0.6F, 0.3F, 0.1F}, 3, json{"a", "b", "c"});
    const auto [rows, err] = heads({"--attention", path, "--hide-first-token"});
    const json& row = rows[0];
    CHECK(row["hide_first_token"] == true);
    CHECK(row["first"] == 0.0);
    // Row 0 reads nothing else and is left out; the others are (0, 1, 0) and (0, 0.75, 0.25).
    CHECK(row["self"].get<double>() == Approx(0.625));
    CHECK(row["previous"].get<double>() == Approx(0.375));
    CHECK(row["largest"].get<double>() == Approx(0.875));
    CHECK(row["label"] == "itself");
    const auto [whole, none] = heads({"--attention", path});
    CHECK_FALSE(whole[0].contains("hide_first_token"));
    CHECK(whole[0]["first"].get<double>() == Approx(0.55));
    CHECK(heads({"Cat sleeps", "--hide-first-token"}).first[0]["first"] == 0.0);
    CHECK_THAT(run_program({"heads", "--help"}).out, Contains("--hide-first-token"));
}

TEST_CASE("heads leaves out the rows of padding", "[cli]") {
    const TemporaryFolder folder;
    for (const std::string pad : {"[PAD]", "<pad>"}) {
        const auto at_end =
            heads({"--attention", one_head(folder, {1, 0, 0, 0, 1, 0, 1, 0, 0}, 3, json{"a", "b", pad})})
                .first;
        CHECK(at_end[0]["self"] == 1.0);
        const auto at_start =
            heads({"--attention", one_head(folder, {0, 0, 1, 0, 1, 0, 0, 0, 1}, 3, json{pad, "a", "b"})})
                .first;
        CHECK(at_start[0]["self"] == 1.0);
        // In the middle it is a word like others.
        const auto within =
            heads({"--attention", one_head(folder, {1, 0, 0, 1, 0, 0, 0, 0, 1}, 3, json{"a", pad, "b"})})
                .first;
        CHECK(within[0]["self"].get<double>() == Approx(2.0 / 3));
    }
}

TEST_CASE("heads warns of numbers that are no attention weights", "[cli]") {
    const TemporaryFolder folder;
    const json tokens{"a", "b"};
    const auto warned = [&](const std::vector<float>& weights, const std::string& what) {
        const auto [rows, err] = heads({"--attention", one_head(folder, weights, 2, tokens)});
        CAPTURE(rows.dump(), err);
        REQUIRE(rows[0].contains("warnings"));
        CHECK_THAT(rows[0]["warnings"].dump(), Contains(what));
        CHECK_THAT(err, Contains(what) && Contains("softmax"));
    };
    warned({1, 0, std::numeric_limits<float>::quiet_NaN(), 1}, "finite");
    warned({1.2F, -0.2F, 0.5F, 0.5F}, "outside 0 to 1");
    warned({1, 0, 0.5F, 0.48F}, "does not sum to 1 within 0.01");
    const auto [rows, err] = heads({"--attention", one_head(folder, {1, 0, 0.5F, 0.495F}, 2, tokens)});
    CHECK_FALSE(rows[0].contains("warnings"));
    CHECK(err.empty());
}

TEST_CASE("render takes every stage that trace writes of a layer", "[cli]") {
    const auto picture = [](const std::string& stage) {
        const ProgramRun run = run_program({"render", "--window", "--model", "pocket", "--text", "The cat",
                                            "--stage", stage, "--size", "640x400", "-o", "-"});
        CAPTURE(stage, run.err);
        CHECK(run.code == 0);
        return run.out;
    };
    // Without a norm after the attention, the model adds its output unchanged.
    const std::string output = picture("output");
    CHECK_FALSE(output.empty());
    CHECK(picture("attn_out") == output);
    CHECK(picture("mlp_out") != output);
}

TEST_CASE("an unknown set of kernels is refused, and a known one runs", "[cli]") {
    const auto traced = [](const std::string& kernels) {
        return run_program({"trace", "Cat sleeps", "--device", "cpu", "-o", "-"}, "",
                           {{"HEADSCOPE_KERNELS", kernels}});
    };
    CHECK(traced("baseline").code == 0);
    CHECK(traced("").code == 0);
    const ProgramRun run = traced("wings");
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains("HEADSCOPE_KERNELS is \"wings\"; set it to ") && Contains("baseline"));
}
