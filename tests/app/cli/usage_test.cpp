#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;

TEST_CASE("what cannot be printed is said") {
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

TEST_CASE("a limit on the size of files is answered like a full disk") {
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

TEST_CASE("numbers of options are whole, in range and finite, in every command") {
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
        CHECK(run.code == 2);
        CHECK_THAT(run.err, Contains(call.option + ": \"" + call.value + "\" " + call.said));
        CHECK(run.out.empty());
    }
    CHECK(run_program({"trace", "Cat sleeps", "--seed", "18446744073709551615", "-o", "-"}).code == 0);
}

TEST_CASE("an unknown command is named, with the nearest") {
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
    CHECK_THAT(said({"pocket", "--stage", "x"}), Contains("--stage") && !Contains("no command"));
    CHECK_THAT(said({"trace", "Cat", "sleeps", "-o", "-"}), Contains("sleeps") && !Contains("no command"));
}

TEST_CASE("a stop of the strip is a stage that can be drawn") {
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
                                          "--stage", "router", "-o", folder.file("out.png")});
    CHECK(model.code == 1);
    CHECK_THAT(model.err, Contains("mlp_gate") && Contains("norm2, ") && !Contains("mlp_raw") &&
                              !Contains("attn_raw") && !Contains("q_normed") && !Contains("router,"));
}
