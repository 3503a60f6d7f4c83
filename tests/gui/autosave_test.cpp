#include "app/jobs/recovery.h"
#include "app/shell/program.h"
#include "core/base/error.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <chrono>
#include <thread>

using namespace headscope;
using namespace headscope::app;
using headscope::test::TemporaryFolder;

namespace {

/// Files of a running program are not offered for recovery: read as a file.
std::optional<project::Recipe> kept_in(const std::string& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".headscope")
            return project::open_project(entry.path().string()).recipe;
    return std::nullopt;
}

bool keeps(const TemporaryFolder& folder, const Program& program) {
    for (int i = 0; i < 3000; ++i) {
        const std::optional<project::Recipe> kept = kept_in(folder.file(""));
        if (kept && project::same_bits(*kept, program.state().document->recipe))
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

Action edit(float value) {
    return EditCell{{TensorId::W_O, {0, 0, 0, 0}}, value};
}

} // namespace

TEST_CASE("the program keeps what was edited, undone and redone, until it is given up") {
    const TemporaryFolder folder;
    {
        Program program({.recipe = {}, .state_folder = folder.file("")});
        CHECK(folder.entries() == 0); // nothing was edited
        program.act(edit(0.25F));
        CHECK(keeps(folder, program));
        program.act(SetGain{1, 0.5F}); // a step of its own
        CHECK(keeps(folder, program));
        program.act(MoveInHistory{-1});
        CHECK(keeps(folder, program));
        program.act(MoveInHistory{1});
        CHECK(keeps(folder, program));
        CHECK(find_recoveries(folder.file("")).empty());
    }
    // It ended without a question.
    const std::vector<Recovery> found = find_recoveries(folder.file(""));
    REQUIRE(found.size() == 1);
    CHECK(found[0].project_path.empty());
    discard_recovery(found[0]);
    {
        Program program({.recipe = {}, .state_folder = folder.file("")});
        program.act(edit(0.25F));
        program.act(QuitProgram{});
        CHECK_FALSE(program.quitting()); // it asks first
        program.act(AnswerUnsaved{UnsavedAnswer::discard});
        CHECK(program.quitting());
    }
    CHECK(folder.entries() == 0);
}

TEST_CASE("a program without a folder for it keeps nothing") {
    const TemporaryFolder folder;
    ::setenv("XDG_STATE_HOME", folder.file("").c_str(), 1);
    {
        Program program(Program::Options{});
        program.act(edit(0.25F));
    }
    ::unsetenv("XDG_STATE_HOME");
    CHECK(folder.entries() == 0);
}

TEST_CASE("a folder that cannot be written is told on screen") {
    Program program({.recipe = {}, .state_folder = "/proc/headscope"});
    program.act(edit(0.25F));
    for (int i = 0; i < 3000 && program.state().error.empty(); ++i) {
        program.settle();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(program.state().error.find("not autosaved") != std::string::npos);
}

TEST_CASE("a program that has nowhere to keep edits says so with the first") {
    Program program(
        {.recipe = {}, .no_state_folder_reason = "Your edits are not autosaved: there is no folder."});
    CHECK(program.state().error.empty());
    program.act(edit(0.25F));
    program.settle();
    CHECK(program.state().error == "Your edits are not autosaved: there is no folder.");
    CHECK(program.state().files.save_state == SaveState::failed);
    program.act(MoveInHistory{-1});
    program.settle();
    CHECK(program.state().files.save_state == SaveState::untouched);
}

TEST_CASE("a program that begins with a problem from a file leaves its recipe as it is") {
    project::Recipe recipe;
    recipe.sentence = "the cat sat";
    project::Recipe from_file;
    from_file.base = std::make_shared<const Problem>(project::build_recipe(recipe).problem);
    const Program program({.recipe = from_file});
    CHECK(project::same_bits(program.state().document->recipe, from_file));
}
