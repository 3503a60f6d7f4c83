#include "core/checkpoint/files/packaged_models.h"

#include "core/base/file.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace headscope;
using Catch::Contains;
using test::Environment;
using test::TemporaryFolder;

TEST_CASE("pocket comes with the program, is written into the cache once, and goes on with a text") {
    const TemporaryFolder folder;
    const Environment cache("XDG_CACHE_HOME", folder.file("").c_str()),
        temporary("TMPDIR", folder.file("temporary").c_str());
    CHECK(checkpoint::packaged_models() == std::vector<std::string>{"pocket"});
    const std::string pocket = checkpoint::model_folder("pocket");
    CHECK(std::filesystem::path(pocket).filename() == "pocket");
    CHECK_THAT(pocket, Catch::StartsWith(folder.file("")));
    const auto written = std::filesystem::last_write_time(pocket + "/config.json");
    CHECK(checkpoint::model_folder("pocket") == pocket);
    CHECK(checkpoint::is_unpacked(pocket));
    CHECK_FALSE(checkpoint::is_unpacked(folder.file("models")));
    CHECK_FALSE(checkpoint::is_unpacked(test_data("/models/gpt2_tiny")));
    CHECK(std::filesystem::last_write_time(pocket + "/config.json") == written);

    const checkpoint::TextModelPtr model = checkpoint::open_text_model(pocket);
    checkpoint::Generator generator(model->model, checkpoint::prompt_inputs(*model, "The cat sat down and"));
    Progress progress;
    for (int n = 0; n < 8; ++n) {
        const auto next = generator.next({}, 1, progress);
        // A trained model is surer of a next word than chance, 1 in 1,536.
        CHECK(next.candidates.front().probability > 0.02);
        generator.append(next.candidates[next.taken].id);
    }
}

TEST_CASE("what is not the name of a packaged model is a path") {
    CHECK(checkpoint::model_folder("./pocket") == "./pocket");
    CHECK(checkpoint::model_folder("") == "");
}

TEST_CASE("a file of a checkpoint means the checkpoint, and any other file itself") {
    const std::string model = test_data("/models/gpt2_tiny");
    for (const char* const file : {"/config.json", "/model.safetensors", "/model.safetensors.index.json",
                                   "/model-00001-of-00002.safetensors"})
        CHECK(checkpoint::model_folder(model + file) == model);
    CHECK(checkpoint::model_folder(model + "/expected.safetensors") == model + "/expected.safetensors");
    CHECK(checkpoint::model_folder("nowhere/model.safetensors") == "nowhere/model.safetensors");
    CHECK(checkpoint::model_folder(model) == model);
}

TEST_CASE("a PyTorch file means its folder, unless the folder means its safetensors") {
    const TemporaryFolder folder;
    const auto file = [&](const std::string& name) {
        write_file_atomically(folder.file(name), "{}");
        return folder.file(name);
    };
    const std::string whole = file("pytorch_model.bin"), index = file("pytorch_model.bin.index.json"),
                      part = file("pytorch_model-00001-of-00002.bin"), other = file("model.pt"),
                      here = std::filesystem::path(whole).parent_path().string();
    CHECK(checkpoint::model_folder(whole) == whole); // without config.json
    file("config.json");
    CHECK(checkpoint::model_folder(whole) == here);
    CHECK(checkpoint::model_folder(index) == here);
    CHECK(checkpoint::model_folder(part) == here);
    CHECK(checkpoint::model_folder(other) == other);
    file("model.safetensors");
    CHECK(checkpoint::model_folder(whole) == whole);
    CHECK(checkpoint::model_folder(index) == index);
    CHECK(checkpoint::model_folder(part) == index);
}

TEST_CASE("without a cache that can be written, a packaged model is unpacked for this user alone") {
    const TemporaryFolder folder;
    const Environment temporary("TMPDIR", folder.file("").c_str());
    const auto [home, cache] = GENERATE(std::pair<const char*, std::string>(nullptr, ""),
                                        std::pair<const char*, std::string>("", "relative/cache"),
                                        std::pair<const char*, std::string>("relative", ""),
                                        std::pair<const char*, std::string>("/proc", ""),
                                        std::pair<const char*, std::string>("/dev/null", ""),
                                        std::pair<const char*, std::string>("/h", "/proc/cache"),
                                        std::pair<const char*, std::string>("/h", "/dev/null"));
    CAPTURE(cache);
    const Environment at_home("HOME", home), cached("XDG_CACHE_HOME", cache.c_str());
    const std::string pocket = checkpoint::model_folder("pocket");
    const std::string own = folder.file("headscope-" + std::to_string(::geteuid()));
    CHECK_THAT(pocket, Catch::StartsWith(own + "/models/"));
    CHECK(checkpoint::is_unpacked(pocket));
    CHECK(checkpoint::model_folder("pocket") == pocket);
    struct stat status {};
    REQUIRE(::stat(own.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700U);
    CHECK(checkpoint::open_text_model(pocket)->model->architecture().layers == 4);
}

TEST_CASE("a temporary folder that others may write to is not used") {
    const TemporaryFolder folder;
    const Environment temporary("TMPDIR", folder.file("").c_str()), cache("XDG_CACHE_HOME", "/proc/cache");
    const std::string own = folder.file("headscope-" + std::to_string(::geteuid()));
    const auto refusal = [] { return input_error([] { checkpoint::model_folder("pocket"); }); };
    SECTION("with permissions for others") {
        REQUIRE(::mkdir(own.c_str(), 0700) == 0);
        REQUIRE(::chmod(own.c_str(), 0770) == 0);
    }
    SECTION("a link to another folder") {
        std::filesystem::create_directory_symlink(folder.file(""), own);
    }
    SECTION("a file") {
        write_file_atomically(own, "");
    }
    CHECK_THAT(refusal(), Contains("/proc/cache") && Contains("XDG_CACHE_HOME"));
    CHECK_FALSE(std::filesystem::exists(own + "/models"));
}

TEST_CASE("folders that cannot be written are named, with what to do") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("cache"), "a file");
    const Environment cache("XDG_CACHE_HOME", folder.file("cache").c_str()), temporary("TMPDIR", "/nowhere");
    CHECK_THAT(input_error([] { checkpoint::model_folder("pocket"); }),
               Contains("pocket cannot be unpacked") && Contains(folder.file("cache")) &&
                   Contains("XDG_CACHE_HOME"));
    const Environment home("HOME", nullptr), none("XDG_CACHE_HOME", nullptr);
    CHECK_THAT(input_error([] { checkpoint::model_folder("pocket"); }),
               Contains("there is no cache folder and no temporary folder"));
}
