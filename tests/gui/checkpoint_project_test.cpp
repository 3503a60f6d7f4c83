#include "core/checkpoint/files/packaged_models.h"
#include "core/project/checkpoint_project.h"
#include "tests/gui/support/files_desk.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

// A .headscope file of a checkpoint, as the window saves and opens it.

namespace {

std::string gpt2() {
    return test_data("/models/gpt2_tiny");
}

const ModelState& opened_state(const Desk& desk) {
    return desk.program.state().model;
}

const RunSpec& opened_run(const Desk& desk) {
    return *desk.program.state().document->part();
}

std::vector<float> numbers_of(const Desk& desk, TensorId id) {
    const Tensor* const tensor = desk.shown().trace->stage(id);
    REQUIRE(tensor != nullptr);
    return {tensor->values().begin(), tensor->values().end()};
}

std::vector<float> all_logits(const Desk& desk) {
    const TensorPtr logits = opened_state(desk).run->logits();
    return {logits->values().begin(), logits->values().end()};
}

/// Files of a folder in a copy that can be moved and changed.
std::string copied(const std::string& folder, const std::string& to) {
    std::filesystem::copy(folder, to);
    return to;
}

} // namespace

TEST_CASE("a prompt and a view without an edit are saved, and open again as they were",
          "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    std::vector<float> weights, logits;
    {
        FilesDesk desk(folder);
        desk.open(gpt2(), "3 1 4 1 5 9 2 6");
        CHECK_FALSE(desk.files().unsaved);
        desk.act(TypePrompt{"7 8 9 10"});
        desk.settle();
        CHECK(desk.files().unsaved);
        desk.act(OpenHead{1, 3});
        desk.act(GoTo{StageGroup::scores});
        desk.settle();
        weights = numbers_of(desk, TensorId::weights);
        logits = all_logits(desk);
        desk.save_as(path);
        REQUIRE(desk.program.state().error.empty());
        CHECK_FALSE(desk.files().unsaved);
        CHECK(desk.files().recent.front() == path);
        desk.act(AskEffects{AskEffects::What::token, "12"});
        desk.act(AskEffects{AskEffects::What::against, "13"});
        desk.act(AskPatching{.corrupted = "7 8 9 11"});
        desk.act(PredictAt{2});
        desk.act(ShowScreen{Screen::patching});
        desk.settle();
        desk.press(GLFW_KEY_S, GLFW_MOD_CONTROL);
        desk.settle();
        CHECK(desk.program.state().error.empty());
        end_recording();
    }
    FilesDesk desk(folder);
    desk.open(path);
    REQUIRE(desk.program.state().error.empty());
    CHECK(opened_run(desk).prompt == "7 8 9 10");
    CHECK(opened_state(desk).prompt == "7 8 9 10");
    CHECK(desk.view().attention.layer == 1);
    CHECK(desk.view().head == 3);
    CHECK(desk.view().group == StageGroup::scores);
    CHECK(desk.view().attention.screen == Screen::patching);
    CHECK(opened_state(desk).effects.token == 12);
    CHECK(opened_state(desk).effects.against == 13);
    CHECK(opened_state(desk).patching.corrupted == "7 8 9 11");
    CHECK(opened_state(desk).position == 2);
    CHECK(numbers_of(desk, TensorId::weights) == weights);
    CHECK(all_logits(desk) == logits);
    CHECK_FALSE(desk.files().unsaved);
    CHECK(desk.files().name() == "mine.headscope");
    end_recording();
}

TEST_CASE("edits, set activations and written tokens come back from a project bit for bit",
          "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    std::vector<float> logits;
    std::vector<std::int64_t> ids;
    {
        FilesDesk desk(folder);
        desk.open(gpt2(), "3 1 4");
        desk.act(GenerateToken{std::int64_t{17}});
        desk.settle();
        desk.act(SetGain{2, 0.25F});
        desk.act(OpenHead{1, 0});
        desk.edit(3.0F);
        desk.act(GoTo{StageGroup::mlp_act});
        desk.settle();
        desk.act(EditCell{{TensorId::mlp_act, {0, 1, 2, 0}}, 4.5F});
        desk.settle();
        REQUIRE(opened_run(desk).edits.at(1).patched.size() == 1);
        logits = all_logits(desk);
        ids = opened_run(desk).inputs->ids;
        desk.save_as(path);
        REQUIRE(desk.program.state().error.empty());
        end_recording();
    }
    FilesDesk desk(folder);
    desk.open(path);
    REQUIRE(desk.program.state().error.empty());
    CHECK(opened_run(desk).inputs->ids == ids);
    CHECK(opened_run(desk).written == 1);
    CHECK(opened_run(desk).edits.at(0).gains[2] == 0.25F);
    CHECK(opened_run(desk).edits.at(1).patched.size() == 1);
    CHECK(all_logits(desk) == logits);
    CHECK_FALSE(desk.files().unsaved);
    desk.act(SetGain{0, 0.5F});
    CHECK(desk.files().unsaved);
    desk.act(MoveInHistory{-1});
    CHECK_FALSE(desk.files().unsaved);
    end_recording();
}

TEST_CASE("a changed prompt is work that is asked about", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.open(gpt2(), "3 1 4");
    desk.act(TypePrompt{"7 8"});
    desk.settle();
    desk.act(QuitProgram{});
    desk.driver.wait(2);
    REQUIRE(desk.files().question);
    CHECK(screen_shows("Save this project?"));
    desk.act(AnswerUnsaved{UnsavedAnswer::save});
    desk.type_path(folder.file("kept.headscope"));
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(project::open_checkpoint_project(folder.file("kept.headscope")).project.text == "7 8");
    CHECK(desk.program.quitting());
    end_recording();
}

TEST_CASE("a model that moved is found beside its project, else asked for; another is refused",
          "[model][checkpoint_project]") {
    namespace fs = std::filesystem;
    TemporaryFolder folder;
    fs::create_directories(folder.file("a"));
    const std::string model = copied(gpt2(), folder.file("a/gpt2_tiny")), path = folder.file("a/p.headscope");
    {
        FilesDesk desk(folder);
        desk.open(model, "3 1 4");
        desk.act(SetGain{2, 0.25F});
        desk.save_as(path);
        REQUIRE(desk.program.state().error.empty());
        desk.act(ForgetRecent{});
        end_recording();
    }
    fs::rename(folder.file("a"), folder.file("b"));
    FilesDesk desk(folder);
    SECTION("beside it") {
        desk.open(folder.file("b/p.headscope"));
        CHECK(desk.program.state().error.empty());
        REQUIRE(desk.program.state().document->is_checkpoint());
        CHECK(opened_run(desk).model->model->path() == folder.file("b/gpt2_tiny"));
        CHECK(opened_run(desk).edits.at(0).gains[2] == 0.25F);
    }
    SECTION("nowhere") {
        fs::rename(folder.file("b/gpt2_tiny"), folder.file("elsewhere"));
        desk.program.open_path(folder.file("b/p.headscope"));
        desk.settle();
        REQUIRE(desk.files().chooser);
        CHECK_THAT(desk.files().chooser->chooser.error(),
                   Catch::Contains("p.headscope was saved with the model gpt2_tiny") &&
                       Catch::Contains(folder.file("a/gpt2_tiny")));
        desk.act(ChosenPath{folder.file("elsewhere")});
        desk.settle();
        CHECK(opened_run(desk).edits.at(0).gains[2] == 0.25F);
        CHECK(desk.files().path == folder.file("b/p.headscope"));
    }
    SECTION("another in its place") {
        fs::remove_all(folder.file("b/gpt2_tiny"));
        fs::create_directories(folder.file("a"));
        copied(test_data("/models/bert_tiny"), folder.file("a/gpt2_tiny"));
        const DocumentPtr before = desk.program.state().document;
        desk.program.open_path(folder.file("b/p.headscope"));
        desk.settle();
        CHECK(desk.program.state().document == before);
        REQUIRE(desk.files().chooser);
        CHECK_THAT(desk.files().chooser->chooser.error(), Catch::Contains("is a different one"));
    }
    end_recording();
}

TEST_CASE("a project of pocket names it, and opens from the recent files", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("pocket.headscope");
    FilesDesk desk(folder);
    desk.open(checkpoint::model_folder("pocket"), "The cat");
    desk.save_as(path);
    REQUIRE(desk.program.state().error.empty());
    CHECK(project::open_checkpoint_project(path).project.model.packaged == "pocket");
    desk.act(NewProject{});
    desk.settle();
    REQUIRE_FALSE(desk.program.state().document->is_checkpoint());
    desk.choose("pocket.headscope");
    desk.settle();
    REQUIRE(desk.program.state().document->is_checkpoint());
    CHECK(opened_run(desk).prompt == "The cat");
    end_recording();
}

TEST_CASE("texts of encoder and decoder come back from a project", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("t5.headscope");
    std::vector<std::int64_t> ids, source;
    {
        FilesDesk desk(folder);
        desk.open(test_data("/models/t5_tiny"), "5 6 7");
        desk.act(ShowStack{checkpoint::Stack::encoder});
        desk.settle();
        ids = opened_run(desk).inputs->ids;
        source = opened_run(desk).inputs->source.front().ids;
        desk.save_as(path);
        REQUIRE(desk.program.state().error.empty());
        end_recording();
    }
    FilesDesk desk(folder);
    desk.open(path);
    REQUIRE(desk.program.state().error.empty());
    CHECK(opened_run(desk).inputs->ids == ids);
    CHECK(opened_run(desk).inputs->source.front().ids == source);
    CHECK(desk.view().attention.stack == checkpoint::Stack::encoder);
    end_recording();
}

TEST_CASE("a damaged project of a checkpoint is refused in a sentence", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    FilesDesk desk(folder);
    desk.open(gpt2(), "3 1 4");
    desk.edit(3.0F);
    desk.save_as(path);
    std::string bytes = text_of(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
    desk.act(NewProject{});
    desk.settle();
    desk.program.open_path(path);
    desk.settle();
    CHECK_THAT(desk.program.state().error, Catch::Contains("is damaged"));
    CHECK_FALSE(desk.program.state().document->is_checkpoint());
    end_recording();
}

TEST_CASE("work on a checkpoint that was killed is offered back with the checkpoint",
          "[model][checkpoint_project]") {
    TemporaryFolder folder;
    namespace fs = std::filesystem;
    const fs::path state = folder.file("state"), left = state / "autosave-4194303-1.headscope";
    const auto kept_file = [&] {
        for (const auto& entry : fs::directory_iterator(state))
            if (const std::string name = entry.path().filename().string();
                name.starts_with("autosave-") && name.ends_with(".headscope"))
                return entry.path();
        return fs::path();
    };
    {
        FilesDesk desk(folder);
        desk.open(gpt2(), "3 1 4");
        desk.edit(3.0F);
        desk.act(TypePrompt{"7 8 9"});
        end_recording();
        const fs::path kept = kept_file();
        REQUIRE_FALSE(kept.empty());
        fs::copy(kept, folder.file("kept"));
        desk.act(MoveInHistory{-2});
        CHECK_FALSE(fs::exists(kept));
    }
    // As a program left it that is no more: nobody holds a lock beside it.
    fs::copy(folder.file("kept"), left);
    FilesDesk desk(folder);
    REQUIRE(desk.files().recoveries.size() == 1);
    CHECK(screen_shows("gpt2_tiny: 7 8 9"));
    desk.act(RecoverProject{desk.files().recoveries.front().path});
    desk.settle();
    CHECK((*desk.program.state().document).title == "gpt2_tiny");
    CHECK(opened_run(desk).prompt == "7 8 9");
    CHECK(desk.edited() == 3.0F);
    CHECK(desk.files().unsaved);
    CHECK(desk.files().path.empty());
    CHECK(desk.files().recoveries.empty());
    CHECK_FALSE(fs::exists(left));
    CHECK_FALSE(kept_file().empty());
    end_recording();
}

TEST_CASE("edits that an earlier version kept are offered with their checkpoint",
          "[model][checkpoint_project]") {
    TemporaryFolder folder;
    namespace fs = std::filesystem;
    const fs::path left = fs::path(folder.file("state")) / "unsaved-gpt2_tiny-4194303.patch.safetensors";
    fs::create_directories(left.parent_path());
    {
        FilesDesk desk(folder);
        desk.open(gpt2(), "3 1 4");
        desk.edit(3.0F);
        desk.save_as(folder.file("mine.patch.safetensors"));
        end_recording();
    }
    fs::copy(folder.file("mine.patch.safetensors"), left);
    FilesDesk desk(folder);
    CHECK(desk.files().recoveries.empty());
    desk.open(gpt2(), "3 1 4");
    REQUIRE(desk.files().recoveries.size() == 1);
    CHECK(screen_shows("Edits of gpt2_tiny"));
    desk.act(RecoverProject{desk.files().recoveries.front().path});
    desk.settle();
    CHECK(desk.edited() == 3.0F);
    CHECK(desk.files().unsaved);
    CHECK_FALSE(fs::exists(left));
    end_recording();
}

TEST_CASE("another text is not lost where a patch is saved", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.open(gpt2(), "3 1 4");
    desk.act(SetGain{2, 0.25F});
    desk.save_as(folder.file("mine.patch.safetensors"));
    desk.act(SetGain{1, 0.5F});
    desk.act(SaveProject{});
    desk.settle();
    CHECK_FALSE(desk.files().chooser);
    CHECK_FALSE(desk.files().unsaved);
    desk.act(TypePrompt{"7 8"});
    desk.settle();
    CHECK(desk.files().unsaved);
    desk.act(SaveProject{});
    REQUIRE(desk.files().chooser);
    CHECK(desk.files().chooser->chooser.text() == "mine.headscope");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(project::open_checkpoint_project(folder.file("mine.headscope")).project.text == "7 8");
    CHECK_FALSE(desk.files().unsaved);
    end_recording();
}
