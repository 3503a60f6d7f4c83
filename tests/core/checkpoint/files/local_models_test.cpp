#include "core/checkpoint/files/local_models.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Adds a golden model in the layout of the Hugging Face tools: the files are in blobs, and the revision has
/// links to them.
std::string add_revision(const std::string& hub, const std::string& folder, const std::string& revision,
                         const std::string& golden) {
    const fs::path model = fs::path(hub) / folder, snapshot = model / "snapshots" / revision;
    fs::create_directories(model / "blobs");
    fs::create_directories(snapshot);
    for (const char* name : {"config.json", "model.safetensors"}) {
        const std::string blob = revision + name;
        fs::copy_file(test_data("/models/") + golden + "/" + name, model / "blobs" / blob);
        fs::create_symlink(fs::path("../../blobs") / blob, snapshot / name);
    }
    return snapshot.string();
}

void set_main(const std::string& hub, const std::string& folder, const std::string& revision) {
    fs::create_directories(fs::path(hub) / folder / "refs");
    write_file_atomically(hub + "/" + folder + "/refs/main", revision);
}

} // namespace

TEST_CASE("a checkpoint is called by its name in the cache, else by its folder") {
    CHECK(checkpoint_name("/cache/models--openai-community--gpt2/snapshots/607a30d7") ==
          "openai-community/gpt2");
    CHECK(checkpoint_name("/cache/models--gpt2/snapshots/607a30d7/") == "gpt2");
    CHECK(checkpoint_name("models/my-model/") == "my-model");
    CHECK(checkpoint_name("models/snapshots/one") == "one");
}

TEST_CASE("the checkpoints that Hugging Face's tools fetched are found by name") {
    const TemporaryFolder folder;
    const std::string hub = folder.file("hub");
    add_revision(hub, "models--someone--tiny-bert", "aaa", "gpt2_tiny");
    const std::string bert = add_revision(hub, "models--someone--tiny-bert", "bbb", "bert_tiny");
    set_main(hub, "models--someone--tiny-bert", "bbb\n");
    // Without a main that leads to a checkpoint: the newest.
    const std::string older = add_revision(hub, "models--gpt2", "old", "bert_tiny");
    const std::string newer = add_revision(hub, "models--gpt2", "new", "gpt2_tiny");
    fs::last_write_time(older, fs::last_write_time(newer) - std::chrono::hours(1));
    set_main(hub, "models--gpt2", "../../models--someone--tiny-bert/snapshots/bbb");
    // A family that is not supported, and folders that are not checkpoints.
    const std::string odd = add_revision(hub, "models--someone--odd", "x", "gpt2_tiny");
    fs::remove(odd + "/config.json");
    write_file_atomically(odd + "/config.json", R"({"model_type": "rwkv"})");
    const std::string broken = add_revision(hub, "models--someone--gone", "x", "gpt2_tiny");
    fs::remove_all(hub + "/models--someone--gone/blobs");
    fs::create_directories(hub + "/models--someone--empty/snapshots");
    fs::create_directories(hub + "/datasets--someone--text/snapshots/x");
    write_file_atomically(hub + "/models--a-file", "");

    const std::vector<LocalModel> found = local_models(hub);
    REQUIRE(found.size() == 3);
    CHECK((found[0].name == "gpt2" && found[0].family == "gpt2" && found[0].path == newer));
    CHECK((found[1].name == "someone/odd" && found[1].family.empty()));
    CHECK_THAT(found[1].problem, Contains("rwkv") && Contains("gpt2"));
    CHECK((found[2].name == "someone/tiny-bert" && found[2].family == "bert" && found[2].path == bert));
    CHECK(found[2].problem.empty());
    CHECK(local_models(folder.file("nothing")).empty());
    CHECK(local_models("").empty());
}

TEST_CASE("the environment says where fetched checkpoints are, the most exact variable first") {
    const Environment home("HOME", "/h"), xdg("XDG_CACHE_HOME", nullptr), hf("HF_HOME", nullptr),
        hub("HF_HUB_CACHE", nullptr);
    CHECK(local_models_folder() == "/h/.cache/huggingface/hub");
    {
        const Environment relative("XDG_CACHE_HOME", "x");
        CHECK(local_models_folder() == "/h/.cache/huggingface/hub");
        const Environment homeless("HOME", nullptr);
        CHECK(local_models_folder().empty());
    }
    const Environment with_xdg("XDG_CACHE_HOME", "/x");
    CHECK(local_models_folder() == "/x/huggingface/hub");
    const Environment with_hf("HF_HOME", "/hf");
    CHECK(local_models_folder() == "/hf/hub");
    const Environment with_hub("HF_HUB_CACHE", "/cache");
    CHECK(local_models_folder() == "/cache");
}
