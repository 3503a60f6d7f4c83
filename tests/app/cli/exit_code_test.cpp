#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <string>
#include <vector>

using namespace headscope;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;

namespace {

struct ExitRow {
    int code;
    std::vector<std::string> words;
};

std::vector<std::string> words_and(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

void check_exit_codes(const std::vector<ExitRow>& calls) {
    for (const ExitRow& call : calls) {
        const ProgramRun run = run_program(call.words);
        std::string line;
        for (const std::string& word : call.words)
            line += " " + word;
        CAPTURE(line, run.err);
        CHECK(run.code == call.code);
        CHECK(run.err.starts_with("headscope: "));
        CHECK(run.out.empty());
    }
}

} // namespace

// 1: a text, number, name or file that was given cannot be used. 2: options are unknown, missing or exclude
// each other.
TEST_CASE("exit codes of commands about a problem follow one rule", "[cli]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out"), none = folder.file("none");
    const std::string other = test_data("/mha/s1_none_bias.safetensors");
    const std::vector<std::string> trace{"trace", "The cat", "-o", out + ".json"};
    const std::vector<std::string> render{"render", "The cat", "-o", out + ".png"};
    const std::vector<std::string> map{"map", "The cat", "--head", "0", "-o", out + ".npy"};
    const std::vector<std::string> record{"record", "The cat", "-o", out + ".html"};
    check_exit_codes({
        {1, words_and(trace, {"--stages", "wings"})},
        {1, words_and(trace, {"--stages", ""})},
        {1, words_and(trace, {"--format", "wings"})},
        {1, words_and(trace, {"--mask", "wings"})},
        {1, words_and(trace, {"--preset", "wings"})},
        {1, words_and(trace, {"--heads", "0"})},
        {1, words_and(trace, {"--heads", "many"})},
        {1, words_and(trace, {"--head", "9"})},
        {1, words_and(trace, {"--gain", "wings"})},
        {1, words_and(trace, {"--gain", "1.2=0"})},
        {1, words_and(trace, {"--temperature", "0"})},
        {1, words_and(trace, {"--temperature", "nan"})},
        {1, words_and(trace, {"--device", "wings"})},
        {1, words_and(trace, {"--memory", "wings"})},
        {1, {"trace", "", "-o", out + ".json"}},
        {1, {"trace", "The cat", "-o", ""}},
        {1, {"trace", "--case", none, "--heads", "2", "-o", out + ".json"}},
        {1, {"trace", other, "-o", out + ".json"}},
        {2, words_and(trace, {"--wings"})},
        {2, words_and(trace, {"--case", other, "--heads", "2"})},
        {2, words_and(trace, {"--project", none})},
        {2, words_and(trace, {"--weights", other})},
        {2, words_and(trace, {"--text", "The cat"})},
        {2, words_and(trace, {"--stages"})},
        {2, {"trace", "The cat"}},
        {2, {"trace", "-o", out + ".json"}},
        {2, {"trace", "--case", other, "-o", out + ".json"}},
        {1, {"export", "The cat", "-o", out + ".json"}},
        {1, {"export", "The cat", "--tensor", "W_O", "-o", out + ".json"}},
        {1, {"export", "The cat", "--tensor", "wings", "-o", out + ".npy"}},
        {1, {"export", "The cat", "--tensor", "weights", "--head", "9", "-o", out + ".npy"}},
        {2, {"export", "The cat", "--head", "0", "-o", out + ".py"}},
        {2, {"export", "The cat", "--whole-model", "-o", out + ".py"}},
        {2, {"export", "The cat"}},
        {1, words_and(map, {"--rect", "wings"})},
        {1, words_and(map, {"--rect", "0:9,0:9"})},
        {1, words_and(map, {"--overview", "0"})},
        {1, words_and(map, {"--overview", "8", "--pool", "wings"})},
        {1, {"map", "The cat", "--head", "9", "--overview", "8", "-o", out + ".npy"}},
        {1, {"map", "The cat", "--head", "0", "--overview", "8", "-o", out + ".jpg"}},
        {2, words_and(map, {})},
        {2, words_and(map, {"--rect", "0:1,0:1", "--overview", "8"})},
        {2, words_and(map, {"--rect", "0:1,0:1", "--pool", "max"})},
        {2, {"map", "The cat", "--overview", "8", "-o", out + ".npy"}},
        {1, words_and(render, {"--stage", "wings"})},
        {1, words_and(render, {"--view", "wings"})},
        {1, words_and(render, {"--theme", "wings"})},
        {1, words_and(render, {"--scale", "0"})},
        {1, words_and(render, {"--scale", "9"})},
        {1, words_and(render, {"--size", "100x100"})},
        {1, words_and(render, {"--size", "wings"})},
        {1, words_and(render, {"--head", "9"})},
        {1, words_and(render, {"--row", "9"})},
        {1, words_and(render, {"--screen", "wings"})},
        {1, {"render", "The cat", "-o", out + ".jpg"}},
        {1, {"render", "The cat", "--window", "-o", out + ".svg"}},
        {1, {"render", "--window", "--present", "--point", "wings", "-o", out + ".png"}},
        {1, {"render", "--window", "--lesson", "wings", "-o", out + ".png"}},
        {1, {"render", "--window", "--manual", "wings", "-o", out + ".png"}},
        {1, {"render", "--window", "--attention", none, "-o", out + ".png"}},
        {2, words_and(render, {"--present"})},
        {2, words_and(render, {"--lesson", "masks"})},
        {2, words_and(render, {"--manual", "effects"})},
        {2, words_and(render, {"--attention", none})},
        {2, words_and(render, {"--screen", "effects"})},
        {2, words_and(render, {"--rollout"})},
        {2,
         {"render", "--window", "--lesson", "masks", "--step", "1", "--question", "1", "-o", out + ".png"}},
        {2, {"render", "The cat"}},
        {1, words_and(record, {"--stages", "--fps", "9"})},
        {1, words_and(record, {"--stages", "--fps", "51"})},
        {1, words_and(record, {"--stages", "--rest", "-1"})},
        {1, words_and(record, {"--stages", "--size", "wings"})},
        {1, words_and(record, {"--script", none})},
        {1, {"record", "The cat", "--stages", "-o", out + ".jpg"}},
        {1, {"record", "--lesson", "wings", "-o", out + ".html"}},
        {2, words_and(record, {})},
        {2, words_and(record, {"--stages", "--script", none})},
        {2, words_and(record, {"--lesson", "masks"})},
    });
    CHECK(folder.entries() == 0);
}

TEST_CASE("exit codes of commands about a checkpoint follow one rule", "[cli]") {
    const TemporaryFolder folder;
    std::string long_sentence;
    for (int word = 0; word < 200; ++word)
        long_sentence += "cat ";
    const std::string out = folder.file("out"), none = folder.file("none");
    const std::string model = test_data("/models/gpt2_tiny");
    const std::vector<std::string> trace{"trace", "--model", model, "-o", out + ".json"},
        ids = words_and(trace, {"--ids", "1,2,3"}), heads{"heads", "--model", model, "--ids", "1,2,3"},
        generate{"generate", "--model", model, "--ids", "1,2,3"},
        explain{"explain", "--model", model, "--ids", "1,2,3"},
        patch{"patch", "--model",     model, "--clean-ids",  "1,2,3", "--corrupted-ids",
              "1,4,3", "--answer-id", "5",   "--against-id", "6"},
        survey{"survey", "--model", model, "--texts", none, "-o", out + ".db"};
    check_exit_codes({
        {1, words_and(trace, {"--ids", "1,,2"})},
        {1, words_and(trace, {"--ids", "1,wings"})},
        {1, words_and(trace, {"--ids", "1,999999"})},
        {1, words_and(trace, {"--text", "a word"})},
        {1, words_and(trace, {"--text-file", none})},
        {1, words_and(trace, {"--inputs", none})},
        {1, words_and(ids, {"--layer", "99"})},
        {1, words_and(ids, {"--head", "99"})},
        {1, words_and(ids, {"--gain", "0=0"})},
        {1, words_and(ids, {"--gain", "encoder:0.0=0"})},
        {1, words_and(ids, {"--gain", "99.0=0"})},
        {1, words_and(ids, {"--patch", none})},
        {1, {"trace", "--model", model, "--ids", "1,2", "-o", out + ".npy"}},
        {1, {"trace", "--model", none, "--ids", "1,2", "-o", out + ".json"}},
        {1, {"trace", "--model", "", "--ids", "1,2", "-o", out + ".json"}},
        {2, trace},
        {2, words_and(ids, {"--text", "a word"})},
        {2, words_and(ids, {"--decoder-ids", "1"})},
        {2, words_and(ids, {"--stack", "encoder"})},
        {2, words_and(ids, {"--mask", "causal"})},
        {1, words_and(heads, {"--scores", "wings"})},
        {1, words_and(heads, {"-o", out + ".txt"})},
        {2, words_and(heads, {"--position", "1"})},
        {2, words_and(heads, {"--seed", "1"})},
        {2, words_and(heads, {"--probe"})},
        {2, words_and(heads, {"--json", "-o", out + ".csv"})},
        {1, words_and(generate, {"--tokens", "0"})},
        {1, words_and(generate, {"--tokens", "wings"})},
        {1, words_and(generate, {"--tokens", "1", "--top", "-1"})},
        {1, words_and(generate, {"--tokens", "1", "--temperature", "-1"})},
        {1, words_and(generate, {"--tokens", "1", "--top-p", "2"})},
        {1, words_and(generate, {"--tokens", "1", "--gain", "0=0"})},
        {2, generate},
        {2, {"generate", "--model", model, "--tokens", "1"}},
        {2, {"generate", "--ids", "1", "--tokens", "1"}},
        {1, words_and(explain, {"--what", "wings"})},
        {1, words_and(explain, {"--what", "lens", "--top", "0"})},
        {1, words_and(explain, {"--what", "logits", "--token-id", "999999"})},
        {1, words_and(explain, {"--what", "logits", "--token", ""})},
        {1, words_and(explain, {"--what", "logits", "--position", "9"})},
        {1, words_and(explain,
                      {"--what", "score", "--layer", "9", "--head", "0", "--query", "1", "--key", "0"})},
        {2, explain},
        {2, words_and(explain, {"--what", "logits", "--layer", "0"})},
        {2, words_and(explain, {"--what", "score", "--layer", "0"})},
        {2, words_and(explain, {"--what", "vocabulary", "--layer", "0", "--head", "0", "--token-id", "3"})},
        {2,
         {"explain", "--model", "pocket", "--what", "vocabulary", "--layer", "0", "--head", "0", "--token",
          "Mary", "--text", "x"}},
        {1, words_and(patch, {"--what", "wings"})},
        {1, words_and(patch, {"--from", "0.1", "--to", "1"})},
        {1, words_and(patch, {"--from", "0.1", "--to", "1.2:x"})},
        {1, words_and(patch, {"--what", "head", "-o", out + ".txt"})},
        {1, words_and(patch, {"--what", "head", "--position", "9"})},
        {2, patch},
        {2, words_and(patch, {"--to", "0.1"})},
        {1, words_and(patch, {"--from", "1.1"})},
        {2, words_and(patch, {"--what", "head", "--prompts", none})},
        {2, words_and(patch, {"--what", "head", "--from", "0.1", "--to", "1.2"})},
        {1, {"explain", "--model", model, "--what", "logits", "--prompts", none}},
        {2, {"explain", "--model", model, "--what", "logits", "--ids", "1", "--prompts", none}},
        {2, {"generate", "--model", model, "--ids", "1", "--tokens", "1", "-o", out + ".json"}},
        {1, {"diff", model, none}},
        {2, {"diff", model}},
        {1, {"prompts", "wings"}},
        {2, {"prompts"}},
        {1, survey},
        {1, words_and(survey, {"--length", "0"})},
        {1, words_and(survey, {"--limit", "0"})},
        {2, {"survey", "--model", model}},
        {2, {"survey", "show", none}},
        {1, {"survey", "show", none, "--layer", "0", "--head", "0"}},
        {1, {"model", "info", none}},
        {2, {"model", "info"}},
        {2, {"model"}},
        {1, {"model", "check", none, "--reference", none}},
        {2, {"model", "check", model, "--wings"}},
        {1, {"model", "list", none}},
        {1, {"tokenize", "--tokenizer", none, "text"}},
        {1, {"tokenize", "--tokenizer", "pocket", "--text-file", none}},
        {2, {"tokenize", "--tokenizer", "pocket"}},
        {2, {"tokenize", "--tokenizer", "pocket", "text", "--text-file", none}},
        {2, {"tokenize", "text"}},
        {1, {"lesson", "play", "wings"}},
        {1, {"lesson", "check", none}},
        {2, {"lesson", "play"}},
        {1, {"lesson", "handout", "wings", "-o", out + ".html"}},
        {1, {"lesson", "handout", "masks", "-o", none + "/masks.html"}},
        {1, {"lesson", "handout", "masks", "-o", "/dev/full"}},
        {1, {"lesson", "handout", "masks", "--sentence", long_sentence, "-o", out + ".html"}},
        {2, {"lesson", "handout", "masks"}},
        {2, {"lesson", "handout", "-o", out + ".html"}},
        {2, {"lesson"}},
        {2, {"devices", "--wings"}},
        {2, {"wings"}},
        {1, {none + ".npy"}},
        {1, {"--lesson", "wings"}},
    });
    CHECK(folder.entries() == 0);
}
