#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/gui/support/files_user.h"

#include <algorithm>

// A lesson plays on a problem of its own, beside the project of the person who plays it.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Player : FilesUser {
    using FilesUser::FilesUser;
    void play(const std::string& id, int page) {
        act(OpenLesson{id});
        act(GoToPage{page});
        settle();
    }
    bool same(const project::Recipe& other) const { return project::same_bits(recipe(), other); }
    std::string path() const { return folder.file("mine.headscope"); }
};

} // namespace

TEST_CASE("Ctrl S in a lesson leaves the project's file alone", "[gui][lesson][files]") {
    TemporaryFolder folder;
    Player player(folder);
    player.type_sentence("My own words");
    player.edit();
    player.save_as(player.path());
    const project::Recipe mine = player.recipe();
    const std::string bytes = text_of(player.path());
    REQUIRE_FALSE(bytes.empty());

    player.play("masks", 2);
    CHECK_FALSE(player.same(mine));
    CHECK_FALSE(player.files().unsaved);
    player.press(GLFW_KEY_S, GLFW_MOD_CONTROL);
    player.settle();
    CHECK(player.program.state().error.find("Not saved: this is the lesson's problem") == 0); // with no tick
    CHECK(text_of(player.path()) == bytes);
    // A name of its own is written; the project's own name is refused.
    player.driver.key(GLFW_KEY_S, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    REQUIRE(player.files().chooser);
    player.act(ChosenPath{player.path()});
    CHECK(text_of(player.path()) == bytes);
    REQUIRE(player.files().chooser);
    CHECK(player.files().chooser->chooser.error().find("file of your project") != std::string::npos);
    player.act(ChosenPath{folder.file("lesson.headscope")});
    CHECK(project::same_bits(project::open_project(folder.file("lesson.headscope")).recipe, player.recipe()));
    CHECK(player.files().path == player.path());

    player.act(CloseLesson{});
    CHECK(player.same(mine));
    CHECK(player.files().path == player.path());
    CHECK_FALSE(player.files().unsaved);
    player.press(GLFW_KEY_Z, GLFW_MOD_CONTROL); // its own history continues
    player.settle();
    CHECK(player.recipe().edits.empty());
    CHECK(player.files().unsaved);
}

TEST_CASE("leaving a lesson shows the project as it was, with its view and its baseline",
          "[gui][lesson][files]") {
    TemporaryFolder folder;
    Player player(folder);
    player.type_sentence("The old man reads");
    player.edit();
    player.act(MarkBaseline{true});
    player.act(SetGain{1, 0.5F});
    player.act(GoTo{StageGroup::scores, 2});
    player.act(PickHead{1});
    player.act(SetCompare{Compare::difference});
    const DocumentPtr mine = player.program.state().document;
    const std::size_t lines = player.program.state().history.size();
    REQUIRE(player.files().unsaved);

    player.play("cross-attention", 2);
    CHECK_FALSE(player.program.state().compare.marked());
    player.type_kv_sentence("Le chat boit");
    player.act(SetDark{true});
    for (int i = 0; i < 20; ++i)
        player.press(GLFW_KEY_Z, GLFW_MOD_CONTROL); // never leads into the project
    player.settle();
    CHECK_FALSE(player.same(mine->recipe));
    player.act(CloseLesson{});
    CHECK(player.program.state().document == mine);
    CHECK(player.shown().document == mine);
    CHECK(player.view().group == StageGroup::scores);
    CHECK(player.view().row == 2);
    CHECK(player.view().head == 1);
    CHECK(player.view().compare == Compare::difference);
    CHECK(player.view().dark); // the look of the window is not part of the project
    CHECK(player.view().points.empty());
    CHECK(player.program.state().sentence == "The old man reads");
    CHECK(player.program.state().compare.marked());
    CHECK(player.program.state().history.size() == lines);
    CHECK(player.files().unsaved);
}

TEST_CASE("playing lessons never marks a project as changed, and what is kept for a crash stays the project",
          "[gui][lesson][files]") {
    TemporaryFolder folder;
    Player player(folder);
    player.play("first-lesson", 3);
    player.act(SetGain{1, 0}); // in the lesson
    CHECK_FALSE(player.files().unsaved);
    player.act(CloseLesson{});
    CHECK_FALSE(player.files().unsaved);

    player.edit();
    player.settle();
    const project::Recipe mine = player.recipe();
    player.play("first-lesson", 3);
    player.act(SetGain{1, 0.25F});
    player.settle();
    bool kept = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("state")))
        kept = kept || (entry.path().extension() == ".headscope" &&
                        project::same_bits(project::open_project(entry.path().string()).recipe, mine));
    CHECK(kept);
    // Save, asked for at the question before something new, saves the project.
    player.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    REQUIRE(player.files().question);
    player.act(AnswerUnsaved{UnsavedAnswer::save});
    REQUIRE(player.files().chooser);
    player.act(ChosenPath{player.path()});
    CHECK(project::same_bits(project::open_project(player.path()).recipe, mine));
    CHECK(player.program.state().course.open == nullptr);
    CHECK(player.recipe().edits.empty()); // and then something new
}

TEST_CASE("File > New and opening a file leave the lesson", "[gui][lesson][files]") {
    TemporaryFolder folder;
    Player player(folder);
    player.save_as(player.path());
    player.play("masks", 2);
    player.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    player.settle();
    CHECK(player.program.state().course.open == nullptr);
    CHECK(player.view().points.empty());
    CHECK(player.recipe().mask != project::MaskChoice::causal);
    CHECK(player.files().path.empty());
    player.play("masks", 2);
    player.program.open_path(player.path());
    player.settle();
    CHECK(player.program.state().course.open == nullptr);
    CHECK(player.files().path == player.path());
}

TEST_CASE("a checkpoint with edits waits beside a lesson, and comes back with them",
          "[gui][lesson][files][model]") {
    TemporaryFolder folder;
    Player player(folder);
    player.open("pocket", "the drum and the drum");
    player.act(SetGain{3, 0});
    player.settle();
    const DocumentPtr mine = player.program.state().document;
    REQUIRE(player.files().unsaved);
    player.play("two-heads-that-copy", 2);
    CHECK(player.files().unsaved);
    player.play("masks", 2);
    CHECK(player.program.state().document->is_experiment());
    player.act(CloseLesson{});
    player.settle();
    CHECK(player.program.state().document->part() == mine->part());
    CHECK(player.program.state().model.prompt == "the drum and the drum");
    CHECK(player.program.state().model.run != nullptr);
    CHECK(player.program.state().head_grid != nullptr);
    CHECK(player.files().unsaved);
    // It continues as before: an edit runs it again.
    player.act(SetGain{2, 0});
    player.settle();
    CHECK(player.program.state().document->part()->edits.size() == 1);
}

TEST_CASE("a lesson's frame is dashed, and goes with the lesson", "[gui][lesson]") {
    TemporaryFolder folder;
    Player player(folder);
    const auto dashes = [&] { // lines as thick as a frame
        return std::ranges::count_if(player.program.canvas().scene.items, [](const auto& item) {
            const auto* line = std::get_if<figure::LineItem>(&item);
            return line != nullptr && line->width == 2.5F;
        });
    };
    CHECK(dashes() == 0);
    player.play("first-lesson", 1);
    REQUIRE_FALSE(player.view().points.empty());
    CHECK(dashes() >= 8);
    player.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    player.settle();
    CHECK(player.view().points.empty());
    CHECK(dashes() == 0);
}

} // namespace headscope::test
