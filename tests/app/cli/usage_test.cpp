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
