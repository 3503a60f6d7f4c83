#include "core/checkpoint/files/packaged_models.h"

#include "core/base/file.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/generator.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using Catch::Contains;
using test::Environment;
using test::TemporaryFolder;

TEST_CASE("pocket comes with the program, is written into the cache once, and goes on with a text") {
    const TemporaryFolder folder;
    const Environment cache("XDG_CACHE_HOME", folder.file("").c_str());
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

TEST_CASE("a cache folder that cannot be written is named") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("cache"), "a file");
    const Environment cache("XDG_CACHE_HOME", folder.file("cache").c_str());
    CHECK_THAT(input_error([] { checkpoint::model_folder("pocket"); }), Contains("cache"));
}
