#include "core/checkpoint/files/packaged_models.h"
#include "core/project/checkpoint_project.h"
#include "tests/gui/support/files_user.h"
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

const ModelState& opened_state(const User& user) {
    return user.program.state().model;
}

const RunSpec& opened_run(const User& user) {
    return *user.program.state().document->part();
}

std::vector<float> numbers_of(const User& user, TensorId id) {
    const Tensor* const tensor = user.shown().trace->stage(id);
    REQUIRE(tensor != nullptr);
    return {tensor->values().begin(), tensor->values().end()};
}

std::vector<float> all_logits(const User& user) {
    const TensorPtr logits = opened_state(user).run->logits();
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
        FilesUser user(folder);
        user.open(gpt2(), "3 1 4 1 5 9 2 6");
        CHECK_FALSE(user.files().unsaved);
        user.act(TypePrompt{"7 8 9 10"});
        user.settle();
        CHECK(user.files().unsaved);
        user.act(OpenHead{1, 3});
        user.act(GoTo{StageGroup::scores});
        user.settle();
        weights = numbers_of(user, TensorId::weights);
        logits = all_logits(user);
        user.save_as(path);
        REQUIRE(user.program.state().error.empty());
        CHECK_FALSE(user.files().unsaved);
        CHECK(user.files().recent.front() == path);
        user.act(AskEffects{AskEffects::What::token, "12"});
        user.act(AskEffects{AskEffects::What::against, "13"});
        user.act(AskPatching{.corrupted = "7 8 9 11"});
        user.act(PredictAt{2});
        user.act(ShowScreen{Screen::patching});
        user.settle();
        user.press(GLFW_KEY_S, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(user.program.state().error.empty());
        end_recording();
    }
    FilesUser user(folder);
    user.open(path);
    REQUIRE(user.program.state().error.empty());
    CHECK(opened_run(user).prompt == "7 8 9 10");
    CHECK(opened_state(user).prompt == "7 8 9 10");
    CHECK(user.view().attention.layer == 1);
    CHECK(user.view().head == 3);
    CHECK(user.view().group == StageGroup::scores);
    CHECK(user.view().attention.screen == Screen::patching);
    CHECK(opened_state(user).effects.token == 12);
    CHECK(opened_state(user).effects.against == 13);
    CHECK(opened_state(user).patching.corrupted == "7 8 9 11");
    CHECK(opened_state(user).position == 2);
    CHECK(numbers_of(user, TensorId::weights) == weights);
    CHECK(all_logits(user) == logits);
    CHECK_FALSE(user.files().unsaved);
    CHECK(user.files().name() == "mine.headscope");
    end_recording();
}

TEST_CASE("edits, set activations and written tokens come back from a project bit for bit",
          "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    std::vector<float> logits;
    std::vector<std::int64_t> ids;
    {
        FilesUser user(folder);
        user.open(gpt2(), "3 1 4");
        user.act(GenerateToken{std::int64_t{17}});
        user.settle();
        user.act(SetGain{2, 0.25F});
        user.act(OpenHead{1, 0});
        user.edit(3.0F);
        user.act(GoTo{StageGroup::mlp_act});
        user.settle();
        user.act(EditCell{{TensorId::mlp_act, {0, 1, 2, 0}}, 4.5F});
        user.settle();
        REQUIRE(opened_run(user).edits.at(1).patched.size() == 1);
        logits = all_logits(user);
        ids = opened_run(user).inputs->ids;
        user.save_as(path);
        REQUIRE(user.program.state().error.empty());
        end_recording();
    }
    FilesUser user(folder);
    user.open(path);
    REQUIRE(user.program.state().error.empty());
    CHECK(opened_run(user).inputs->ids == ids);
    CHECK(opened_run(user).written == 1);
    CHECK(opened_run(user).edits.at(0).gains[2] == 0.25F);
    CHECK(opened_run(user).edits.at(1).patched.size() == 1);
    CHECK(all_logits(user) == logits);
    CHECK_FALSE(user.files().unsaved);
    user.act(SetGain{0, 0.5F});
    CHECK(user.files().unsaved);
    user.act(MoveInHistory{-1});
    CHECK_FALSE(user.files().unsaved);
    end_recording();
}

TEST_CASE("a changed prompt is work that is asked about", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(gpt2(), "3 1 4");
    user.act(TypePrompt{"7 8"});
    user.settle();
    user.act(QuitProgram{});
    user.driver.wait(2);
    REQUIRE(user.files().question);
    CHECK(screen_shows("Save this project?"));
    user.act(AnswerUnsaved{UnsavedAnswer::save});
    user.type_path(folder.file("kept.headscope"));
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(project::open_checkpoint_project(folder.file("kept.headscope")).project.text == "7 8");
    CHECK(user.program.quitting());
    end_recording();
}

TEST_CASE("a model that moved is found beside its project, else asked for; another is refused",
          "[model][checkpoint_project]") {
    namespace fs = std::filesystem;
    TemporaryFolder folder;
    fs::create_directories(folder.file("a"));
    const std::string model = copied(gpt2(), folder.file("a/gpt2_tiny")), path = folder.file("a/p.headscope");
    {
        FilesUser user(folder);
        user.open(model, "3 1 4");
        user.act(SetGain{2, 0.25F});
        user.save_as(path);
        REQUIRE(user.program.state().error.empty());
        user.act(ForgetRecent{});
        end_recording();
    }
    fs::rename(folder.file("a"), folder.file("b"));
    FilesUser user(folder);
    SECTION("beside it") {
        user.open(folder.file("b/p.headscope"));
        CHECK(user.program.state().error.empty());
        REQUIRE(user.program.state().document->is_checkpoint());
        CHECK(opened_run(user).model->model->path() == folder.file("b/gpt2_tiny"));
        CHECK(opened_run(user).edits.at(0).gains[2] == 0.25F);
    }
    SECTION("nowhere") {
        fs::rename(folder.file("b/gpt2_tiny"), folder.file("elsewhere"));
        user.program.open_path(folder.file("b/p.headscope"));
        user.settle();
        REQUIRE(user.files().chooser);
        CHECK_THAT(user.files().chooser->chooser.error(),
                   Catch::Contains("p.headscope was saved with the model gpt2_tiny") &&
                       Catch::Contains(folder.file("a/gpt2_tiny")));
        user.act(ChosenPath{folder.file("elsewhere")});
        user.settle();
        CHECK(opened_run(user).edits.at(0).gains[2] == 0.25F);
        CHECK(user.files().path == folder.file("b/p.headscope"));
    }
    SECTION("another in its place") {
        fs::remove_all(folder.file("b/gpt2_tiny"));
        fs::create_directories(folder.file("a"));
        copied(test_data("/models/bert_tiny"), folder.file("a/gpt2_tiny"));
        const DocumentPtr before = user.program.state().document;
        user.program.open_path(folder.file("b/p.headscope"));
        user.settle();
        CHECK(user.program.state().document == before);
        REQUIRE(user.files().chooser);
        CHECK_THAT(user.files().chooser->chooser.error(), Catch::Contains("is a different one"));
    }
    end_recording();
}

TEST_CASE("a project of pocket names it, and opens from the recent files", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("pocket.headscope");
    FilesUser user(folder);
    user.open(checkpoint::model_folder("pocket"), "The cat");
    user.save_as(path);
    REQUIRE(user.program.state().error.empty());
    CHECK(project::open_checkpoint_project(path).project.model.packaged == "pocket");
    user.act(NewProject{});
    user.settle();
    REQUIRE_FALSE(user.program.state().document->is_checkpoint());
    user.choose("pocket.headscope");
    user.settle();
    REQUIRE(user.program.state().document->is_checkpoint());
    CHECK(opened_run(user).prompt == "The cat");
    end_recording();
}

TEST_CASE("texts of encoder and decoder come back from a project", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("t5.headscope");
    std::vector<std::int64_t> ids, source;
    {
        FilesUser user(folder);
        user.open(test_data("/models/t5_tiny"), "5 6 7");
        user.act(ShowStack{checkpoint::Stack::encoder});
        user.settle();
        ids = opened_run(user).inputs->ids;
        source = opened_run(user).inputs->source.front().ids;
        user.save_as(path);
        REQUIRE(user.program.state().error.empty());
        end_recording();
    }
    FilesUser user(folder);
    user.open(path);
    REQUIRE(user.program.state().error.empty());
    CHECK(opened_run(user).inputs->ids == ids);
    CHECK(opened_run(user).inputs->source.front().ids == source);
    CHECK(user.view().attention.stack == checkpoint::Stack::encoder);
    end_recording();
}

TEST_CASE("a damaged project of a checkpoint is refused in a sentence", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    const std::string path = folder.file("mine.headscope");
    FilesUser user(folder);
    user.open(gpt2(), "3 1 4");
    user.edit(3.0F);
    user.save_as(path);
    std::string bytes = text_of(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
    user.act(NewProject{});
    user.settle();
    user.program.open_path(path);
    user.settle();
    CHECK_THAT(user.program.state().error, Catch::Contains("is damaged"));
    CHECK_FALSE(user.program.state().document->is_checkpoint());
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
        FilesUser user(folder);
        user.open(gpt2(), "3 1 4");
        user.edit(3.0F);
        user.act(TypePrompt{"7 8 9"});
        end_recording();
        const fs::path kept = kept_file();
        REQUIRE_FALSE(kept.empty());
        fs::copy(kept, folder.file("kept"));
        user.act(MoveInHistory{-2});
        CHECK_FALSE(fs::exists(kept));
    }
    // As a program left it that is no more: nobody holds a lock beside it.
    fs::copy(folder.file("kept"), left);
    FilesUser user(folder);
    REQUIRE(user.files().recoveries.size() == 1);
    CHECK(screen_shows("gpt2_tiny: 7 8 9"));
    user.act(RecoverProject{user.files().recoveries.front().path});
    user.settle();
    CHECK((*user.program.state().document).title == "gpt2_tiny");
    CHECK(opened_run(user).prompt == "7 8 9");
    CHECK(user.edited() == 3.0F);
    CHECK(user.files().unsaved);
    CHECK(user.files().path.empty());
    CHECK(user.files().recoveries.empty());
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
        FilesUser user(folder);
        user.open(gpt2(), "3 1 4");
        user.edit(3.0F);
        user.save_as(folder.file("mine.patch.safetensors"));
        end_recording();
    }
    fs::copy(folder.file("mine.patch.safetensors"), left);
    FilesUser user(folder);
    CHECK(user.files().recoveries.empty());
    user.open(gpt2(), "3 1 4");
    REQUIRE(user.files().recoveries.size() == 1);
    CHECK(screen_shows("Edits of gpt2_tiny"));
    user.act(RecoverProject{user.files().recoveries.front().path});
    user.settle();
    CHECK(user.edited() == 3.0F);
    CHECK(user.files().unsaved);
    CHECK_FALSE(fs::exists(left));
    end_recording();
}

TEST_CASE("another text is not lost where a patch is saved", "[model][checkpoint_project]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.open(gpt2(), "3 1 4");
    user.act(SetGain{2, 0.25F});
    user.save_as(folder.file("mine.patch.safetensors"));
    user.act(SetGain{1, 0.5F});
    user.act(SaveProject{});
    user.settle();
    CHECK_FALSE(user.files().chooser);
    CHECK_FALSE(user.files().unsaved);
    user.act(TypePrompt{"7 8"});
    user.settle();
    CHECK(user.files().unsaved);
    user.act(SaveProject{});
    REQUIRE(user.files().chooser);
    CHECK(user.files().chooser->chooser.text() == "mine.headscope");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(project::open_checkpoint_project(folder.file("mine.headscope")).project.text == "7 8");
    CHECK_FALSE(user.files().unsaved);
    end_recording();
}
