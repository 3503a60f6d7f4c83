#include "app/state/document.h"
#include "core/base/file.h"
#include "core/project/project_file.h"
#include "core/text/preset.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;

namespace {

/// Saves what `arguments` of trace ask for, so that both ways to it can be compared.
void save(const project::Recipe& recipe, const std::string& path) {
    project::save_project(recipe, app::make_document(recipe, 1)->problem, path);
}

std::string traced(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "trace");
    for (const char* word : {"--format", "safetensors", "-o", "-"})
        arguments.emplace_back(word);
    const ProgramRun run = run_program(arguments);
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.err.empty());
    return run.out;
}

} // namespace

TEST_CASE("trace --project equals trace of the same problem", "[cli][project]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("p.headscope");
    project::Recipe recipe;
    recipe.preset = "eight-experts";
    recipe.sentence = "The cat sat on the mat";
    recipe.extra_mask = {CausalMask{}};
    recipe.gains = {1, 1, 0.5F, 1, 1, 1, 1, 1};
    recipe.temperature = 0.3F;
    save(recipe, path);
    const std::vector<std::string> sentence{recipe.sentence, "--preset", recipe.preset, "--mask",
                                            "causal",        "--gain",   "2=0.5",       "--temperature"};
    std::vector<std::string> with_saved = sentence, with_other = sentence;
    with_saved.emplace_back("0.3");
    with_other.emplace_back("2");
    CHECK(traced({"--project", path}) == traced(with_saved));
    CHECK(traced({"--project", path, "--temperature", "2"}) == traced(with_other));
}

TEST_CASE("the command line says what is wrong with a project", "[cli][project]") {
    const TemporaryFolder folder;
    const auto fails = [](const std::vector<std::string>& arguments, int code, const std::string& part) {
        const ProgramRun run = run_program(arguments);
        CHECK(run.code == code);
        CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains(part));
        CHECK(std::ranges::count(run.err, '\n') == 1);
        CHECK(run.out.empty());
    };
    const std::string path = folder.file("p.headscope"), cut = folder.file("cut.headscope");
    project::Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    save(recipe, path);
    write_file_atomically(cut, read_file(path).substr(0, 200));
    fails({"trace", "--project", folder.file("no"), "-o", "-"}, 1, "cannot read");
    fails({"trace", "--project", cut, "-o", "-"}, 1, "cut short");
    fails({"trace", "a cat", "--project", path, "-o", "-"}, 2, "give one of them");
    fails({"trace", "--project", path, "--heads", "2", "-o", "-"}, 2, "--heads");
    fails({"trace", "--project", path, "--model", ".", "-o", "-"}, 2, "--project");
    fails({folder.file("no")}, 1, "neither a sub-command nor");
    fails({folder.file("no.headscope")}, 1, "cannot read");
    write_file_atomically(folder.file("broken.md"), "no lesson");
    fails({folder.file("broken.md")}, 1, "headscope lesson check");
    fails({folder.file("no.md")}, 1, "cannot read");
    fails({folder.file("broken.md"), "--lesson", "masks"}, 2, "--lesson");
    fails({path, "--preset", "random"}, 2, "--preset");
}
