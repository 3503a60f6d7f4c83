#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/environment.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

// Saving, opening, the question about unsaved changes, and recovery, as a user works them.

namespace headscope::test {

using namespace headscope::app;
namespace {

namespace fs = std::filesystem;

} // namespace

TEST_CASE("the Open dialog lists the models that come with the program and those of the cache",
          "[gui][files]") {
    TemporaryFolder folder;
    const std::string tiny = folder.file("hub/models--someone--tiny/snapshots/abc");
    fs::create_directories(tiny);
    for (const char* name : {"config.json", "model.safetensors"})
        fs::create_symlink(test_data("/models/gpt2_tiny/") + name, fs::path(tiny) / name);
    const Environment hub("HF_HUB_CACHE", folder.file("hub").c_str());
    FilesUser user(folder);
    user.choose("Open…");
    user.settle();
    REQUIRE(user.files().chooser);
    const auto& models = user.files().chooser->chooser.options().models;
    REQUIRE(models.size() == 2);
    CHECK(models[0].label == "pocket");
    CHECK(models[1].label == "someone/tiny");
    CHECK(models[1].path == tiny);
    CHECK(models[1].line.starts_with("gpt2, "));
    user.driver.wait(2);
    CHECK(screen_shows("someone/tiny"));
    CHECK(screen_shows(models[1].line));
}

TEST_CASE("what is saved is what is opened again", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    CHECK(user.files().save_state == SaveState::untouched);
    CHECK(user.program.title() == "The cat sat down · Headscope");
    user.edit();
    CHECK(user.files().unsaved);
    CHECK(user.files().save_state == SaveState::autosaved);
    CHECK(user.program.title() == "• The cat sat down · Headscope");
    CHECK(screen_shows("autosaved"));

    user.choose("Save");
    REQUIRE(user.files().chooser);
    CHECK(screen_shows("Save the project"));
    user.type_path(folder.file("mine"));
    REQUIRE(user.click("Save", "file chooser"));
    user.settle();
    CHECK_FALSE(user.files().chooser);
    CHECK(user.files().path == folder.file("mine.headscope"));
    CHECK_FALSE(user.files().unsaved);
    CHECK(user.program.title() == "mine.headscope · Headscope");
    CHECK(screen_shows("saved"));
    CHECK(screen_shows("Saved mine.headscope"));
    CHECK(project::same_bits(project::open_project(folder.file("mine.headscope")).recipe, user.recipe()));

    // Undo to what was there before it was saved: different from the file. Redo: the same again.
    user.press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(user.files().unsaved);
    user.press(GLFW_KEY_Y, GLFW_MOD_CONTROL);
    CHECK_FALSE(user.files().unsaved);
    // The same number, set in another way, does not count as a change either.
    user.edit(1);
    CHECK(user.files().unsaved);
    user.edit();
    CHECK_FALSE(user.files().unsaved);

    // Save goes into the same file without a question.
    user.edit(-2);
    user.press(GLFW_KEY_S, GLFW_MOD_CONTROL);
    user.settle();
    CHECK_FALSE(user.files().chooser);
    CHECK_FALSE(user.files().unsaved);
    const project::Recipe recipe = user.recipe();
    user.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(user.files().path.empty());
    CHECK(user.recipe().edits.empty());

    // Opened by its line among the recent files.
    user.choose("mine.headscope");
    user.settle();
    CHECK(user.files().path == folder.file("mine.headscope"));
    CHECK(project::same_bits(user.recipe(), recipe));
    CHECK(user.edited() == -2);
    CHECK(user.program.state().history.size() == 1); // changes of another project are not undone here
}

TEST_CASE("a project is opened as it was looked at when it was saved", "[gui][files]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    const CellAddress cell{TensorId::W_O, {4, 0, 0, 0}};
    {
        FilesUser user(folder);
        user.edit();
        user.act(GoTo{StageGroup::output});
        user.act(PickHead{1});
        user.act(Select{cell});
        user.save_as(path);
    }
    FilesUser user(folder);
    user.program.open_path(path);
    user.settle();
    const ViewState& view = user.program.state().view;
    CHECK(view.group == StageGroup::output);
    CHECK(view.head == 1);
    CHECK(view.selected == cell);
    // The previous steps are listed, and not undone.
    REQUIRE(user.program.state().history.size() == 1);
    CHECK(user.program.state().history.front().steps_before_saving ==
          std::vector<std::string>{"edit W_O[5, 1]"});
    user.act(ShowTab{LeftTab::edit});
    CHECK(screen_shows("none since it was saved"));
    CHECK(screen_shows("edit W_O[5, 1]"));

    // Another program's project, without a word about the view or with a wrong one, leaves the view alone.
    const project::Recipe recipe = user.recipe();
    for (const char* text : {"", "{", R"({"stage": "nowhere", "head": "one", "row": 99, "map": {"zoom": -3},
             "selected": {"tensor": "W_O", "at": [4, 800]}, "steps": [1, "x"]})"}) {
        user.act(GoTo{StageGroup::scores});
        project::save_project(recipe, user.program.state().document->problem, folder.file("other.headscope"),
                              {{"headscope.view", text}});
        user.program.open_path(folder.file("other.headscope"));
        user.settle();
        CHECK(view.group == StageGroup::scores);
        CHECK(view.head == 1);
        CHECK_FALSE(view.selected);
        CHECK(view.attention.map.zoom == 1);
        CHECK(view.row < 4);
    }
}

TEST_CASE("a problem made elsewhere is opened, with the heads that its file tells", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const std::string golden = test_data("/mha/gqa_h8_kv2_causal.safetensors");
    user.program.open_path(golden);
    user.settle();
    CHECK(user.problem().dims ==
          Dims{.B = 1, .Tq = 6, .Tk = 6, .D = 32, .Dkv = 32, .H = 8, .Hkv = 2, .dk = 4, .dv = 4});
    CHECK_FALSE(user.files().unsaved);
    CHECK(user.files().path.empty());
    const TensorPtr expected = format::Safetensors::open(golden).tensor("expect.weights");
    const auto got = user.shown().trace->stage(TensorId::weights)->values(), wanted = expected->values();
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(std::abs(got[i] - wanted[i]) < 2e-5F);

    user.act(SetHeads{4}); // four queries share each key/value head, as before
    CHECK((user.problem().dims.H == 4 && user.problem().dims.Hkv == 1 && user.problem().dims.dk == 8));
    CHECK(user.problem().weights.W_K->values().size() == std::size_t{32 * 8});
    user.act(MoveInHistory{-1});
    CHECK_FALSE(user.files().unsaved);

    // Without a word about heads: one, and a line that says so.
    format::SafetensorsWriter writer;
    const format::Safetensors file = format::Safetensors::open(test_data("/mha/s1_none_bias.safetensors"));
    for (const char* const name : {"X", "W_Q", "W_K", "W_V", "W_O"})
        writer.add(name, file.tensor(name));
    write_file_atomically(folder.file("plain.safetensors"), writer.bytes());
    user.program.open_path(folder.file("plain.safetensors"));
    user.settle();
    CHECK(user.problem().dims.H == 1);
    CHECK(screen_shows("plain.safetensors does not say how many heads"));
    user.act(SetHeads{2});
    CHECK(user.problem().dims.H == 2);
    CHECK(user.problem().dims.dk == 4);
    user.choose("gqa_h8_kv2_causal.safetensors");
    user.settle();
    CHECK(user.files().question); // two heads are a change that nobody saved
    user.press(GLFW_KEY_ESCAPE);
}

TEST_CASE("work is not lost without a question", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.save_as(folder.file("kept.headscope"));
    const auto begin = [&](int what) {
        switch (what) {
        case 0:
            return user.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
        case 1:
            return user.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
        case 2:
            return user.program.open_path(folder.file("kept.headscope"));
        default:
            return user.program.close();
        }
    };
    const int what = GENERATE(0, 1, 2, 3);
    const bool quits = what == 0 || what == 3;
    user.edit();
    begin(what);
    user.driver.wait(2);
    REQUIRE(user.files().question);
    CHECK(screen_shows("Save the changes to kept.headscope?"));
    CHECK_FALSE(user.program.quitting());

    SECTION("Escape goes back") {
        user.press(GLFW_KEY_ESCAPE);
        CHECK_FALSE(user.files().question);
        CHECK(user.edited() == 3.25F);
        CHECK(user.files().unsaved);
        CHECK_FALSE(user.program.quitting());
    }
    SECTION("Cancel goes back") {
        REQUIRE(user.click("Cancel", "unsaved"));
        CHECK_FALSE(user.files().question);
        CHECK(user.edited() == 3.25F);
        CHECK_FALSE(user.program.quitting());
    }
    SECTION("Save saves and goes on") {
        REQUIRE(user.click("Save", "unsaved"));
        user.settle();
        CHECK(user.program.quitting() == quits);
        const project::OpenedProject saved = project::open_project(folder.file("kept.headscope"));
        CHECK(saved.recipe.edits.at(TensorId::W_O)->at(5, 1) == 3.25F);
        CHECK_FALSE(user.files().unsaved);
    }
    SECTION("Don't save goes on without") {
        user.press(GLFW_KEY_D);
        user.settle();
        CHECK(user.program.quitting() == quits);
        CHECK(project::open_project(folder.file("kept.headscope")).recipe.edits.empty());
        if (!quits)
            CHECK(user.recipe().edits.empty());
    }
    SECTION("with Tab and Enter") {
        for (int i = 0; i < 3; ++i) // Don't save, Cancel, Save
            user.press(GLFW_KEY_TAB);
        user.press(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
        user.press(GLFW_KEY_ENTER);
        CHECK_FALSE(user.files().question);
        CHECK(user.files().unsaved);
        CHECK_FALSE(user.program.quitting());
    }
}

TEST_CASE("Save for a project without a file asks for a name, then goes on", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit();
    user.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
    user.press(GLFW_KEY_ENTER);
    REQUIRE(user.files().chooser);
    SECTION("named") {
        user.type_path(folder.file("late"));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        CHECK(user.program.quitting());
        CHECK(fs::exists(folder.file("late.headscope")));
    }
    SECTION("not named") {
        user.press(GLFW_KEY_ESCAPE);
        user.settle();
        CHECK_FALSE(user.program.quitting());
        CHECK(user.files().unsaved);
    }
    SECTION("a place that cannot be written to") {
        user.type_path("/proc/late");
        user.press(GLFW_KEY_ENTER);
        user.settle();
        REQUIRE(user.files().chooser);
        CHECK_THAT(user.files().chooser->chooser.error(), Catch::Contains("/proc/late"));
        CHECK_FALSE(user.program.quitting());
        // The first request is forgotten: a later save does not quit.
        user.type_path(folder.file("late"));
        user.press(GLFW_KEY_ENTER);
        user.settle();
        CHECK(fs::exists(folder.file("late.headscope")));
        CHECK_FALSE(user.program.quitting());
    }
}

TEST_CASE("keys reach the dialog alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit();
    const std::string before = signature(user.program);
    user.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
    for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_SPACE, GLFW_KEY_L, GLFW_KEY_N, GLFW_KEY_F1,
                          GLFW_KEY_LEFT_BRACKET, GLFW_KEY_2})
        user.press(key);
    user.press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    user.driver.click(1100, 40); // outside of the card
    CHECK(user.files().question);
    CHECK_FALSE(user.files().chooser);
    user.press(GLFW_KEY_ESCAPE);
    CHECK(signature(user.program) == before);
    user.press(GLFW_KEY_RIGHT);
    CHECK(signature(user.program) != before);
}

TEST_CASE("a project is found with the keyboard alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    fs::create_directories(folder.file("shelf/inner"));
    user.edit();
    user.save_as(folder.file("shelf/inner/deep.headscope"));
    user.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    user.settle();
    user.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    REQUIRE(user.files().chooser);
    const FileChooser& chooser = user.files().chooser->chooser;

    SECTION("arrows, Enter and Backspace") {
        CHECK(chooser.listing().folder == folder.file("shelf/inner")); // where the last path was
        user.press(GLFW_KEY_BACKSPACE);
        user.press(GLFW_KEY_BACKSPACE);
        CHECK(chooser.listing().folder / "shelf" == folder.file("shelf"));
        // "shelf" is chosen, for one came from there.
        user.press(GLFW_KEY_ENTER);
        user.press(GLFW_KEY_DOWN);
        user.press(GLFW_KEY_ENTER);
        user.press(GLFW_KEY_DOWN);
        CHECK(chooser.text() == "deep.headscope");
        user.press(GLFW_KEY_ENTER);
    }
    SECTION("typing and Tab") {
        user.type_path(folder.file("she"));
        for (int i = 0; i < 3; ++i)
            user.press(GLFW_KEY_TAB);
        CHECK(chooser.text() == folder.file("shelf/inner/deep.headscope"));
        user.press(GLFW_KEY_ENTER);
    }
    SECTION("double click") {
        const auto& items = screen_items();
        const auto row = std::ranges::find_if(
            items, [](const ScreenItem& item) { return item.label == "deep.headscope"; });
        REQUIRE(row != items.end());
        user.driver.double_click(row->middle_x(), row->middle_y());
    }
    user.settle();
    CHECK_FALSE(user.files().chooser);
    CHECK(user.edited() == 3.25F);
}

TEST_CASE("what cannot be opened is said where one looks, and changes nothing", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    std::ofstream(folder.file("notes.txt")) << "some notes";
    std::ofstream(folder.file("bad.headscope")) << "not a project at all";
    const DocumentPtr before = user.program.state().document;
    for (const char* name : {"notes.txt", "bad.headscope", "gone.headscope", "."}) {
        user.program.open_path(folder.file(name));
        user.settle();
        INFO(name);
        CHECK(user.program.state().error.find(name) != std::string::npos);
        CHECK(user.program.state().document == before);
        user.press(GLFW_KEY_ESCAPE);
        CHECK(user.program.state().error.empty());
    }
    CHECK(user.files().path.empty());
    user.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    user.type_path(folder.file("bad.headscope"));
    user.press(GLFW_KEY_ENTER);
    user.settle();
    REQUIRE(user.files().chooser); // it stays, and says what is wrong
    CHECK(user.files().chooser->chooser.error().find("bad.headscope") != std::string::npos);
    CHECK(user.program.state().error.empty());
}

TEST_CASE("what is left of a damaged project is offered, and its file is kept", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.edit();
    user.save_as(folder.file("cut.headscope"));
    const std::string whole = text_of(folder.file("cut.headscope"));
    const std::string cut = whole.substr(0, whole.size() - 40);
    std::ofstream(folder.file("cut.headscope"), std::ios::binary) << cut;
    user.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    user.settle();
    user.program.open_path(folder.file("cut.headscope"));
    user.settle();
    REQUIRE(user.files().damaged);
    CHECK(screen_shows("Open what is left of cut.headscope?"));
    SECTION("yes") {
        user.press(GLFW_KEY_ENTER);
        user.settle();
        CHECK(user.files().unsaved);
        CHECK(user.files().path.empty());
        CHECK(user.recipe().sentence == "The cat sat down");
    }
    SECTION("no") {
        const DocumentPtr before = user.program.state().document;
        user.press(GLFW_KEY_ESCAPE);
        CHECK(user.program.state().document == before);
        CHECK_FALSE(user.files().damaged);
    }
    CHECK(text_of(folder.file("cut.headscope")) == cut);
}

TEST_CASE("what a killed program left is offered at the next start", "[gui][files]") {
    TemporaryFolder folder;
    fs::create_directories(folder.file("kept"));
    project::Recipe lost;
    {
        FilesUser user(folder);
        user.edit(7.5F);
        user.act(SetGain{1, 0.25F});
        lost = user.recipe();
        // As a kill leaves it: the file is there, and nobody holds its lock.
        for (const auto& entry : fs::directory_iterator(folder.file("state")))
            if (entry.path().extension() == ".headscope")
                fs::copy_file(entry.path(), folder.file("kept") / entry.path().filename());
        user.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
        user.press(GLFW_KEY_D);
        REQUIRE(user.program.quitting());
    }
    int left = 0; // nothing of a program that ended well
    for (const auto& entry : fs::directory_iterator(folder.file("state")))
        left += entry.path().extension() == ".headscope";
    CHECK(left == 0);
    for (const auto& entry : fs::directory_iterator(folder.file("kept")))
        fs::copy_file(entry.path(), folder.file("state") / entry.path().filename());

    FilesUser user(folder);
    REQUIRE(user.files().recoveries.size() == 1);
    CHECK(screen_shows("Headscope was closed before this was saved"));
    CHECK(screen_shows("The cat sat down"));
    SECTION("recovered") {
        REQUIRE(user.click("Recover", "recovery"));
        user.settle();
        CHECK(user.files().recoveries.empty());
        CHECK(project::same_bits(user.recipe(), lost));
        CHECK(user.files().unsaved);
        CHECK(user.files().save_state == SaveState::autosaved);
        // It is safe again: the file of the dead program is gone, that of this one is there.
        int files = 0;
        for (const auto& entry : fs::directory_iterator(folder.file("state")))
            files += entry.path().extension() == ".headscope";
        CHECK(files == 1);
    }
    SECTION("thrown away") {
        REQUIRE(user.click("Discard", "recovery"));
        user.settle();
        CHECK(user.files().recoveries.empty());
        CHECK(user.recipe().edits.empty());
        CHECK_FALSE(user.files().unsaved);
        FilesUser next(folder);
        CHECK(next.files().recoveries.empty());
    }
    SECTION("left for later") {
        REQUIRE(user.click("Later", "recovery"));
        user.settle();
        CHECK(user.files().recoveries.empty());
    }
}

TEST_CASE("a new project begins at its beginning, without the comparison of the one before", "[gui][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.act(GoTo{StageGroup::output});
    user.act(PickHead{1});
    user.edit();
    user.act(SetCompare{Compare::difference});
    REQUIRE(user.program.state().compare.marked());
    user.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    user.press(GLFW_KEY_D); // the edit is not kept
    user.settle();
    CHECK(user.program.state().history.size() == 1);
    CHECK_FALSE(user.program.state().compare.marked());
    CHECK(user.view().compare == Compare::now);
    CHECK(user.view().group == StageGroup::x);
    CHECK(user.view().head == 0);
}

} // namespace headscope::test
