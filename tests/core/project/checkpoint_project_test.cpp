#include "core/project/checkpoint_project.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/project/project_file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

checkpoint::Model gpt2() {
    return checkpoint::Model::open(test_data("/models/gpt2_tiny"));
}

checkpoint::ModelEdits some_edits(const checkpoint::Model& model) {
    checkpoint::ModelEdits edits;
    edits[0].gains.assign(static_cast<std::size_t>(model.config().H), 1.0F);
    edits[0].gains[1] = 0.1F;
    return edits;
}

project::CheckpointProject some_project(const std::string& path) {
    return {.model = project::model_location(test_data("/models/gpt2_tiny"), path),
            .text = "3 1 4 \"ü\n",
            .ids = {3, 1, 4},
            .generated_count = 1,
            .activations = {{.attention = 1, .at = TensorId::mlp_act, .row = 2, .column = 3, .value = 0.1F}},
            .questions = "what was asked",
            .view = "how it was looked at"};
}

std::string said_of(const std::string& bytes) {
    try {
        static_cast<void>(project::parse_checkpoint_project(bytes, "p.headscope"));
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::input);
        return fault.what();
    }
    return "";
}

} // namespace

TEST_CASE("a project of a checkpoint comes back as it was written", "[checkpoint_project]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("p.headscope");
    const checkpoint::Model model = gpt2();
    const checkpoint::ModelEdits edits = some_edits(model);
    const project::CheckpointProject before = some_project(path);
    project::save_checkpoint_project(model, edits, before, path);
    const project::OpenedCheckpointProject opened = project::open_checkpoint_project(path);
    const project::CheckpointProject& after = opened.project;
    CHECK(after.model.path == before.model.path);
    CHECK(after.model.relative == before.model.relative);
    CHECK(after.model_name == "gpt2_tiny");
    CHECK(after.text == before.text);
    CHECK(after.ids == before.ids);
    CHECK(after.generated_count == 1);
    CHECK(after.activations == before.activations);
    CHECK(after.questions == before.questions);
    CHECK(after.view == before.view);
    const checkpoint::ModelEdits read = project::edits_of_project(model, opened);
    CHECK(read.at(0).gains == edits.at(0).gains);
    REQUIRE(read.at(1).patched.size() == 1);
    CHECK(read.at(1).patched.front().rows->data()[0] == 0.1F);
    CHECK(project::checkpoint_project_bytes(model, edits, before) == read_file(path));
    CHECK(project::is_checkpoint_project(format::Safetensors::open(path)));
    // It is a patch, too, and no project of a problem.
    CHECK(checkpoint::load_patch(model, path).at(0).gains == edits.at(0).gains);
    CHECK_FALSE(project::is_project(format::Safetensors::open(path)));
    CHECK(project::project_summary(path).title == "gpt2_tiny: " + before.text);
    CHECK(project::find_model(opened, path, {}) == test_data("/models/gpt2_tiny"));
}

TEST_CASE("no byte of a checkpoint's project changes unseen", "[checkpoint_project]") {
    const checkpoint::Model model = gpt2();
    const std::string bytes =
        project::checkpoint_project_bytes(model, some_edits(model), some_project("/tmp/p.headscope"));
    REQUIRE(said_of(bytes).empty());
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        INFO(at);
        CHECK_FALSE(said_of(changed).empty());
    }
    for (std::size_t size = 0; size < bytes.size(); size += 101)
        CHECK_FALSE(said_of(bytes.substr(0, size)).empty());
}

TEST_CASE("a project of a newer version, and one for another model, say so", "[checkpoint_project]") {
    const checkpoint::Model model = gpt2();
    const auto with = [&](const std::string& structure) {
        return checkpoint::patch_bytes_with(model, {}, {{std::string(project::checkpoint_key), structure}});
    };
    CHECK_THAT(said_of(with(R"({"format":2,"model":{}})")), Contains("use the one that wrote it"));
    CHECK_THAT(said_of(with(R"({"format":1})")), Contains("model"));
    CHECK_THAT(said_of(with(R"({"format":1,"model":{},"checksum":"sha256"})")), Contains("is damaged"));
    CHECK(said_of(with(R"({"format":1,"model":{},"later":1})")).empty());
    const checkpoint::Model other = checkpoint::Model::open(test_data("/models/bert_tiny"));
    const project::OpenedCheckpointProject opened =
        project::parse_checkpoint_project(with(R"({"format":1,"model":{}})"), "p.headscope");
    CHECK_THROWS_WITH(project::edits_of_project(other, opened), Contains("is a different one"));
    CHECK(project::matches_model(opened, model.path()));
    CHECK_FALSE(project::matches_model(opened, other.path()));
}

TEST_CASE("the model of a project is found where it lies now", "[checkpoint_project]") {
    const TemporaryFolder folder;
    const std::string there = folder.file("a/gpt2"), path = folder.file("a/work/p.headscope");
    fs::create_directories(folder.file("a/work"));
    fs::copy(test_data("/models/gpt2_tiny"), there);
    project::save_checkpoint_project(checkpoint::Model::open(there), {},
                                     {.model = project::model_location(there, path), .text = "1", .ids = {1}},
                                     path);
    const auto found = [&](const std::string& project_path, const std::vector<std::string>& others = {}) {
        return project::find_model(project::open_checkpoint_project(project_path), project_path, others)
            .value_or("");
    };
    CHECK(found(path) == there);
    fs::rename(folder.file("a"), folder.file("b"));
    CHECK(found(folder.file("b/work/p.headscope")) == folder.file("b/gpt2"));
    fs::rename(folder.file("b/gpt2"), folder.file("b/work/gpt2"));
    CHECK(found(folder.file("b/work/p.headscope")) == folder.file("b/work/gpt2"));
    fs::rename(folder.file("b/work/gpt2"), folder.file("other"));
    CHECK(found(folder.file("b/work/p.headscope")).empty());
    CHECK(found(folder.file("b/work/p.headscope"), {test_data("/models/bert_tiny"), folder.file("other")}) ==
          folder.file("other"));
    CHECK_THAT(project::missing_model_message(
                   project::open_checkpoint_project(folder.file("b/work/p.headscope")).project, path),
               Contains("p.headscope was saved with the model gpt2, which is no longer at " + there));
}

TEST_CASE("a project is never written into the checkpoint's folder", "[checkpoint_project]") {
    const TemporaryFolder folder;
    fs::copy(test_data("/models/gpt2_tiny"), folder.file("gpt2"));
    const checkpoint::Model model = checkpoint::Model::open(folder.file("gpt2"));
    const std::string path = folder.file("gpt2/p.headscope");
    CHECK_THROWS_WITH(project::save_checkpoint_project(model, {}, some_project(path), path),
                      Contains("where nothing is written"));
    CHECK_FALSE(fs::exists(path));
}
