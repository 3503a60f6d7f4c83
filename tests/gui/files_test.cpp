#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/environment.h"
#include "tests/gui/support/files_desk.h"
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
    FilesDesk desk(folder);
    desk.choose("Open…");
    desk.settle();
    REQUIRE(desk.files().chooser);
    const auto& models = desk.files().chooser->chooser.options().models;
    REQUIRE(models.size() == 2);
    CHECK(models[0].label == "pocket");
    CHECK(models[1].label == "someone/tiny");
    CHECK(models[1].path == tiny);
    CHECK(models[1].line.starts_with("gpt2, "));
    desk.driver.wait(2);
    CHECK(screen_shows("someone/tiny"));
    CHECK(screen_shows(models[1].line));
}

TEST_CASE("what is saved is what is opened again", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    CHECK(desk.files().save_state == SaveState::untouched);
    CHECK(desk.program.title() == "The cat sat down · Headscope");
    desk.edit();
    CHECK(desk.files().unsaved);
    CHECK(desk.files().save_state == SaveState::autosaved);
    CHECK(desk.program.title() == "• The cat sat down · Headscope");
    CHECK(screen_shows("autosaved"));

    desk.choose("Save");
    REQUIRE(desk.files().chooser);
    CHECK(screen_shows("Save the project"));
    desk.type_path(folder.file("mine"));
    REQUIRE(desk.click("Save", "file chooser"));
    desk.settle();
    CHECK_FALSE(desk.files().chooser);
    CHECK(desk.files().path == folder.file("mine.headscope"));
    CHECK_FALSE(desk.files().unsaved);
    CHECK(desk.program.title() == "mine.headscope · Headscope");
    CHECK(screen_shows("saved"));
    CHECK(screen_shows("Saved mine.headscope"));
    CHECK(project::same_bits(project::open_project(folder.file("mine.headscope")).recipe, desk.recipe()));

    // Undo to what was there before it was saved: different from the file. Redo: the same again.
    desk.press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    CHECK(desk.files().unsaved);
    desk.press(GLFW_KEY_Y, GLFW_MOD_CONTROL);
    CHECK_FALSE(desk.files().unsaved);
    // The same number, set in another way, does not count as a change either.
    desk.edit(1);
    CHECK(desk.files().unsaved);
    desk.edit();
    CHECK_FALSE(desk.files().unsaved);

    // Save goes into the same file without a question.
    desk.edit(-2);
    desk.press(GLFW_KEY_S, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK_FALSE(desk.files().chooser);
    CHECK_FALSE(desk.files().unsaved);
    const project::Recipe recipe = desk.recipe();
    desk.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(desk.files().path.empty());
    CHECK(desk.recipe().edits.empty());

    // Opened by its line among the recent files.
    desk.choose("mine.headscope");
    desk.settle();
    CHECK(desk.files().path == folder.file("mine.headscope"));
    CHECK(project::same_bits(desk.recipe(), recipe));
    CHECK(desk.edited() == -2);
    CHECK(desk.program.state().history.size() == 1); // changes of another project are not undone here
}

TEST_CASE("a project is opened as it was looked at when it was saved", "[gui][files]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    const CellAddress cell{TensorId::W_O, {4, 0, 0, 0}};
    {
        FilesDesk desk(folder);
        desk.edit();
        desk.act(GoTo{StageGroup::output});
        desk.act(PickHead{1});
        desk.act(Select{cell});
        desk.save_as(path);
    }
    FilesDesk desk(folder);
    desk.program.open_path(path);
    desk.settle();
    const ViewState& view = desk.program.state().view;
    CHECK(view.group == StageGroup::output);
    CHECK(view.head == 1);
    CHECK(view.selected == cell);
    // The previous steps are listed, and not undone.
    REQUIRE(desk.program.state().history.size() == 1);
    CHECK(desk.program.state().history.front().steps_before_saving ==
          std::vector<std::string>{"edit W_O[5, 1]"});
    desk.act(ShowTab{LeftTab::edit});
    CHECK(screen_shows("none since it was saved"));
    CHECK(screen_shows("edit W_O[5, 1]"));

    // Another program's project, without a word about the view or with a wrong one, leaves the view alone.
    const project::Recipe recipe = desk.recipe();
    for (const char* text : {"", "{", R"({"stage": "nowhere", "head": "one", "row": 99, "map": {"zoom": -3},
             "selected": {"tensor": "W_O", "at": [4, 800]}, "steps": [1, "x"]})"}) {
        desk.act(GoTo{StageGroup::scores});
        project::save_project(recipe, desk.program.state().document->problem, folder.file("other.headscope"),
                              {{"headscope.view", text}});
        desk.program.open_path(folder.file("other.headscope"));
        desk.settle();
        CHECK(view.group == StageGroup::scores);
        CHECK(view.head == 1);
        CHECK_FALSE(view.selected);
        CHECK(view.attention.map.zoom == 1);
        CHECK(view.row < 4);
    }
}

TEST_CASE("a problem made elsewhere is opened, with the heads that its file tells", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    const std::string golden = test_data("/mha/gqa_h8_kv2_causal.safetensors");
    desk.program.open_path(golden);
    desk.settle();
    CHECK(desk.problem().dims ==
          Dims{.B = 1, .Tq = 6, .Tk = 6, .D = 32, .Dkv = 32, .H = 8, .Hkv = 2, .dk = 4, .dv = 4});
    CHECK_FALSE(desk.files().unsaved);
    CHECK(desk.files().path.empty());
    const TensorPtr expected = format::Safetensors::open(golden).tensor("expect.weights");
    const auto got = desk.shown().trace->stage(TensorId::weights)->values(), wanted = expected->values();
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(std::abs(got[i] - wanted[i]) < 2e-5F);

    desk.act(SetHeads{4}); // four queries share each key/value head, as before
    CHECK((desk.problem().dims.H == 4 && desk.problem().dims.Hkv == 1 && desk.problem().dims.dk == 8));
    CHECK(desk.problem().weights.W_K->values().size() == std::size_t{32 * 8});
    desk.act(MoveInHistory{-1});
    CHECK_FALSE(desk.files().unsaved);

    // Without a word about heads: one, and a line that says so.
    format::SafetensorsWriter writer;
    const format::Safetensors file = format::Safetensors::open(test_data("/mha/s1_none_bias.safetensors"));
    for (const char* const name : {"X", "W_Q", "W_K", "W_V", "W_O"})
        writer.add(name, file.tensor(name));
    write_file_atomically(folder.file("plain.safetensors"), writer.bytes());
    desk.program.open_path(folder.file("plain.safetensors"));
    desk.settle();
    CHECK(desk.problem().dims.H == 1);
    CHECK(screen_shows("plain.safetensors does not say how many heads"));
    desk.act(SetHeads{2});
    CHECK(desk.problem().dims.H == 2);
    CHECK(desk.problem().dims.dk == 4);
    desk.choose("gqa_h8_kv2_causal.safetensors");
    desk.settle();
    CHECK(desk.files().question); // two heads are a change that nobody saved
    desk.press(GLFW_KEY_ESCAPE);
}

TEST_CASE("work is not lost without a question", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.save_as(folder.file("kept.headscope"));
    const auto begin = [&](int what) {
        switch (what) {
        case 0:
            return desk.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
        case 1:
            return desk.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
        case 2:
            return desk.program.open_path(folder.file("kept.headscope"));
        default:
            return desk.program.close();
        }
    };
    const int what = GENERATE(0, 1, 2, 3);
    const bool quits = what == 0 || what == 3;
    desk.edit();
    begin(what);
    desk.driver.wait(2);
    REQUIRE(desk.files().question);
    CHECK(screen_shows("Save the changes to kept.headscope?"));
    CHECK_FALSE(desk.program.quitting());

    SECTION("Escape goes back") {
        desk.press(GLFW_KEY_ESCAPE);
        CHECK_FALSE(desk.files().question);
        CHECK(desk.edited() == 3.25F);
        CHECK(desk.files().unsaved);
        CHECK_FALSE(desk.program.quitting());
    }
    SECTION("Cancel goes back") {
        REQUIRE(desk.click("Cancel", "unsaved"));
        CHECK_FALSE(desk.files().question);
        CHECK(desk.edited() == 3.25F);
        CHECK_FALSE(desk.program.quitting());
    }
    SECTION("Save saves and goes on") {
        REQUIRE(desk.click("Save", "unsaved"));
        desk.settle();
        CHECK(desk.program.quitting() == quits);
        const project::OpenedProject saved = project::open_project(folder.file("kept.headscope"));
        CHECK(saved.recipe.edits.at(TensorId::W_O)->at(5, 1) == 3.25F);
        CHECK_FALSE(desk.files().unsaved);
    }
    SECTION("Don't save goes on without") {
        desk.press(GLFW_KEY_D);
        desk.settle();
        CHECK(desk.program.quitting() == quits);
        CHECK(project::open_project(folder.file("kept.headscope")).recipe.edits.empty());
        if (!quits)
            CHECK(desk.recipe().edits.empty());
    }
    SECTION("with Tab and Enter") {
        for (int i = 0; i < 3; ++i) // Don't save, Cancel, Save
            desk.press(GLFW_KEY_TAB);
        desk.press(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
        desk.press(GLFW_KEY_ENTER);
        CHECK_FALSE(desk.files().question);
        CHECK(desk.files().unsaved);
        CHECK_FALSE(desk.program.quitting());
    }
}

TEST_CASE("Save for a project without a file asks for a name, then goes on", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.edit();
    desk.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
    desk.press(GLFW_KEY_ENTER);
    REQUIRE(desk.files().chooser);
    SECTION("named") {
        desk.type_path(folder.file("late"));
        desk.press(GLFW_KEY_ENTER);
        desk.settle();
        CHECK(desk.program.quitting());
        CHECK(fs::exists(folder.file("late.headscope")));
    }
    SECTION("not named") {
        desk.press(GLFW_KEY_ESCAPE);
        desk.settle();
        CHECK_FALSE(desk.program.quitting());
        CHECK(desk.files().unsaved);
    }
    SECTION("a place that cannot be written to") {
        desk.type_path("/proc/late");
        desk.press(GLFW_KEY_ENTER);
        desk.settle();
        REQUIRE(desk.files().chooser);
        CHECK_THAT(desk.files().chooser->chooser.error(), Catch::Contains("/proc/late"));
        CHECK_FALSE(desk.program.quitting());
        // The first request is forgotten: a later save does not quit.
        desk.type_path(folder.file("late"));
        desk.press(GLFW_KEY_ENTER);
        desk.settle();
        CHECK(fs::exists(folder.file("late.headscope")));
        CHECK_FALSE(desk.program.quitting());
    }
}

TEST_CASE("keys reach the dialog alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.edit();
    const std::string before = signature(desk.program);
    desk.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
    for (const int key : {GLFW_KEY_RIGHT, GLFW_KEY_SPACE, GLFW_KEY_L, GLFW_KEY_N, GLFW_KEY_F1,
                          GLFW_KEY_LEFT_BRACKET, GLFW_KEY_2})
        desk.press(key);
    desk.press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    desk.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    desk.driver.click(1100, 40); // outside of the card
    CHECK(desk.files().question);
    CHECK_FALSE(desk.files().chooser);
    desk.press(GLFW_KEY_ESCAPE);
    CHECK(signature(desk.program) == before);
    desk.press(GLFW_KEY_RIGHT);
    CHECK(signature(desk.program) != before);
}

TEST_CASE("a project is found with the keyboard alone", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    fs::create_directories(folder.file("shelf/inner"));
    desk.edit();
    desk.save_as(folder.file("shelf/inner/deep.headscope"));
    desk.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    desk.settle();
    desk.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    REQUIRE(desk.files().chooser);
    const FileChooser& chooser = desk.files().chooser->chooser;

    SECTION("arrows, Enter and Backspace") {
        CHECK(chooser.listing().folder == folder.file("shelf/inner")); // where the last path was
        desk.press(GLFW_KEY_BACKSPACE);
        desk.press(GLFW_KEY_BACKSPACE);
        CHECK(chooser.listing().folder / "shelf" == folder.file("shelf"));
        // "shelf" is chosen, for one came from there.
        desk.press(GLFW_KEY_ENTER);
        desk.press(GLFW_KEY_DOWN);
        desk.press(GLFW_KEY_ENTER);
        desk.press(GLFW_KEY_DOWN);
        CHECK(chooser.text() == "deep.headscope");
        desk.press(GLFW_KEY_ENTER);
    }
    SECTION("typing and Tab") {
        desk.type_path(folder.file("she"));
        for (int i = 0; i < 3; ++i)
            desk.press(GLFW_KEY_TAB);
        CHECK(chooser.text() == folder.file("shelf/inner/deep.headscope"));
        desk.press(GLFW_KEY_ENTER);
    }
    SECTION("double click") {
        const auto& items = screen_items();
        const auto row = std::ranges::find_if(
            items, [](const ScreenItem& item) { return item.label == "deep.headscope"; });
        REQUIRE(row != items.end());
        desk.driver.double_click(row->middle_x(), row->middle_y());
    }
    desk.settle();
    CHECK_FALSE(desk.files().chooser);
    CHECK(desk.edited() == 3.25F);
}

TEST_CASE("what cannot be opened is said where one looks, and changes nothing", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    std::ofstream(folder.file("notes.txt")) << "some notes";
    std::ofstream(folder.file("bad.headscope")) << "not a project at all";
    const DocumentPtr before = desk.program.state().document;
    for (const char* name : {"notes.txt", "bad.headscope", "gone.headscope", "."}) {
        desk.program.open_path(folder.file(name));
        desk.settle();
        INFO(name);
        CHECK(desk.program.state().error.find(name) != std::string::npos);
        CHECK(desk.program.state().document == before);
        desk.press(GLFW_KEY_ESCAPE);
        CHECK(desk.program.state().error.empty());
    }
    CHECK(desk.files().path.empty());
    desk.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    desk.type_path(folder.file("bad.headscope"));
    desk.press(GLFW_KEY_ENTER);
    desk.settle();
    REQUIRE(desk.files().chooser); // it stays, and says what is wrong
    CHECK(desk.files().chooser->chooser.error().find("bad.headscope") != std::string::npos);
    CHECK(desk.program.state().error.empty());
}

TEST_CASE("what is left of a damaged project is offered, and its file is kept", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.edit();
    desk.save_as(folder.file("cut.headscope"));
    const std::string whole = text_of(folder.file("cut.headscope"));
    const std::string cut = whole.substr(0, whole.size() - 40);
    std::ofstream(folder.file("cut.headscope"), std::ios::binary) << cut;
    desk.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    desk.settle();
    desk.program.open_path(folder.file("cut.headscope"));
    desk.settle();
    REQUIRE(desk.files().damaged);
    CHECK(screen_shows("Open what is left of cut.headscope?"));
    SECTION("yes") {
        desk.press(GLFW_KEY_ENTER);
        desk.settle();
        CHECK(desk.files().unsaved);
        CHECK(desk.files().path.empty());
        CHECK(desk.recipe().sentence == "The cat sat down");
    }
    SECTION("no") {
        const DocumentPtr before = desk.program.state().document;
        desk.press(GLFW_KEY_ESCAPE);
        CHECK(desk.program.state().document == before);
        CHECK_FALSE(desk.files().damaged);
    }
    CHECK(text_of(folder.file("cut.headscope")) == cut);
}

TEST_CASE("what a killed program left is offered at the next start", "[gui][files]") {
    TemporaryFolder folder;
    fs::create_directories(folder.file("kept"));
    project::Recipe lost;
    {
        FilesDesk desk(folder);
        desk.edit(7.5F);
        desk.act(SetGain{1, 0.25F});
        lost = desk.recipe();
        // As a kill leaves it: the file is there, and nobody holds its lock.
        for (const auto& entry : fs::directory_iterator(folder.file("state")))
            if (entry.path().extension() == ".headscope")
                fs::copy_file(entry.path(), folder.file("kept") / entry.path().filename());
        desk.press(GLFW_KEY_Q, GLFW_MOD_CONTROL);
        desk.press(GLFW_KEY_D);
        REQUIRE(desk.program.quitting());
    }
    int left = 0; // nothing of a program that ended well
    for (const auto& entry : fs::directory_iterator(folder.file("state")))
        left += entry.path().extension() == ".headscope";
    CHECK(left == 0);
    for (const auto& entry : fs::directory_iterator(folder.file("kept")))
        fs::copy_file(entry.path(), folder.file("state") / entry.path().filename());

    FilesDesk desk(folder);
    REQUIRE(desk.files().recoveries.size() == 1);
    CHECK(screen_shows("Headscope was closed before this was saved"));
    CHECK(screen_shows("The cat sat down"));
    SECTION("recovered") {
        REQUIRE(desk.click("Recover", "recovery"));
        desk.settle();
        CHECK(desk.files().recoveries.empty());
        CHECK(project::same_bits(desk.recipe(), lost));
        CHECK(desk.files().unsaved);
        CHECK(desk.files().save_state == SaveState::autosaved);
        // It is safe again: the file of the dead program is gone, that of this one is there.
        int files = 0;
        for (const auto& entry : fs::directory_iterator(folder.file("state")))
            files += entry.path().extension() == ".headscope";
        CHECK(files == 1);
    }
    SECTION("thrown away") {
        REQUIRE(desk.click("Discard", "recovery"));
        desk.settle();
        CHECK(desk.files().recoveries.empty());
        CHECK(desk.recipe().edits.empty());
        CHECK_FALSE(desk.files().unsaved);
        FilesDesk next(folder);
        CHECK(next.files().recoveries.empty());
    }
    SECTION("left for later") {
        REQUIRE(desk.click("Later", "recovery"));
        desk.settle();
        CHECK(desk.files().recoveries.empty());
    }
}

TEST_CASE("a new project begins at its beginning, without the comparison of the one before", "[gui][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.act(GoTo{StageGroup::output});
    desk.act(PickHead{1});
    desk.edit();
    desk.act(SetCompare{Compare::difference});
    REQUIRE(desk.program.state().compare.marked());
    desk.press(GLFW_KEY_N, GLFW_MOD_CONTROL);
    desk.press(GLFW_KEY_D); // the edit is not kept
    desk.settle();
    CHECK(desk.program.state().history.size() == 1);
    CHECK_FALSE(desk.program.state().compare.marked());
    CHECK(desk.view().compare == Compare::now);
    CHECK(desk.view().group == StageGroup::x);
    CHECK(desk.view().head == 0);
}

} // namespace headscope::test
