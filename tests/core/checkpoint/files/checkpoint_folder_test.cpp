#include "core/checkpoint/files/checkpoint_folder.h"

#include "core/base/file.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Copies a golden model into a new folder.
std::string add_model(const std::string& folder, const std::string& golden = "gpt2_tiny") {
    fs::create_directories(folder);
    for (const char* name : {"config.json", "model.safetensors"})
        fs::copy_file(test_data("/models/") + golden + "/" + name, folder + "/" + name);
    return folder;
}

} // namespace

TEST_CASE("a model's folder in a Hugging Face cache stands for the revision of its branch main") {
    const TemporaryFolder folder;
    const std::string model = folder.file("models--someone--tiny");
    add_model(model + "/snapshots/aaa", "llama_tiny_tied");
    const std::string main = add_model(model + "/snapshots/bbb");
    fs::create_directories(model + "/refs");
    write_file_atomically(model + "/refs/main", "bbb\n");
    CHECK(checkpoint_at(model) == main);
    CHECK(checkpoints_of_folder(model) == std::vector{main});
    const TextModelPtr opened = open_text_model(model);
    CHECK(opened->model->architecture().family == "gpt2");
    CHECK(opened->name() == "someone/tiny");
}

TEST_CASE("a trainer's folder stands for its only checkpoint, and several are named by step") {
    const TemporaryFolder folder;
    const std::string trainer = folder.file("out");
    const std::string first = add_model(trainer + "/checkpoint-1000");
    fs::create_directories(trainer + "/checkpoint-500"); // without a model
    fs::create_directories(trainer + "/runs");
    CHECK(checkpoint_at(trainer) == first);
    CHECK(Model::open(trainer).path() == first);
    add_model(trainer + "/checkpoint-20");
    CHECK_THAT(input_error([&] { checkpoint_at(trainer); }),
               Contains("2 checkpoints (checkpoint-20, checkpoint-1000); name one"));
    // Weights of the folder itself come first.
    add_model(trainer);
    CHECK(checkpoint_at(trainer) == trainer);
}

TEST_CASE("a folder of GGUF files stands for the one that holds a language model") {
    const TemporaryFolder folder;
    const auto add = [&](const char* name) { write_file_atomically(folder.file(name), "GGUF"); };
    add("tiny.gguf");
    add("mmproj-tiny.gguf");
    CHECK(checkpoint_at(folder.file("")) == folder.file("tiny.gguf"));
    add("other.gguf");
    CHECK_THAT(input_error([&] { checkpoint_at(folder.file("")); }), Contains("other.gguf, tiny.gguf"));
}

TEST_CASE("other paths stand for themselves") {
    const TemporaryFolder folder;
    for (const std::string& path : {folder.file(""), folder.file("nothing"), test_data("/models/gpt2_tiny")})
        CHECK(checkpoint_at(path) == path);
    CHECK(checkpoints_of_folder(folder.file("")).empty());
}
