#include "core/checkpoint/files/other_files.h"

#include "core/base/file.h"
#include "core/checkpoint/model/model.h"
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

TEST_CASE("a file that is no model is named for what it is, with a remedy") {
    struct File {
        std::string name, bytes, what, remedy;
    };
    const std::vector<File> files{
        {"cat.png", "\x89PNG\r\n\x1a\n....", "a picture", "folder of a model"},
        {"weights.bin", std::string("\xFF\xD8\xFF\xE0", 4), "a picture", "folder of a model"},
        {"tf_model.h5", "\x89HDF\r\n\x1a\n", "TensorFlow", "from_tf=True"},
        {"flax_model.msgpack", std::string("\x82\xa7", 2), "Flax", "from_flax=True"},
        {"model.onnx", std::string("\x08\x07", 2), "ONNX", "download the safetensors"},
        {"weights.npz", "PK\x03\x04....", "NumPy", "safetensors"},
        {"model.zip", "PK\x03\x04....", "archive", "unpack"},
        {"model.tar.gz", "\x1F\x8B\x08", "archive", "unpack"},
        {"model.ggml", "lmgg....", "GGML", ".gguf"},
        {"index.html", "<!DOCTYPE html>", "web page", "get the file again"},
        {"train.py", "import torch", "a program", "save_pretrained"},
        {"model.gguf", "GGU", "GGUF", "get it again"},
        {"notes.txt", "words", "not a file of a model", "config.json"},
        {"nothing.gguf", "", "empty", "get it again"}};
    const TemporaryFolder folder;
    for (const File& file : files) {
        INFO(file.name);
        const std::string path = folder.file(file.name);
        write_file_atomically(path, file.bytes);
        CHECK_THAT(other_path_sentence(path), Contains(file.what) && Contains(file.remedy));
        if (!file.name.ends_with(".bin"))
            CHECK(input_error([&] { Model::open(path); }) == other_path_sentence(path));
    }
    CHECK_THAT(input_error([&] { Model::open(folder.file("no.gguf")); }), Contains("does not exist"));
}

TEST_CASE("a folder that is no model is named for what it holds, with a remedy") {
    struct Folder {
        std::vector<std::string> names;
        std::string what, remedy;
    };
    const std::vector<Folder> folders{
        {{}, "an empty folder", "folder of a model"},
        {{"config.json", "model.onnx"}, "model.onnx in it is an ONNX file", "safetensors"},
        {{"config.json", "tf_model.h5"}, "TensorFlow", "from_tf=True"},
        {{"config.json", "flax_model.msgpack"}, "Flax", "from_flax=True"},
        {{"config.json"}, "has no weights", "model.safetensors"},
        {{"tokenizer.json", "tokenizer_config.json"}, "a tokenizer and no model", "config.json"},
        {{"adapter_config.json"}, "an adapter whose weights are missing", "adapter_model.safetensors"},
        {{"model_index.json"}, "a pipeline", "text_encoder"},
        {{"model.safetensors"}, "no config.json", "config.json"},
        {{"weights.npz"}, "NumPy", "safetensors"},
        {{"notes.txt"}, "neither config.json nor weights", "folder of a model"}};
    const TemporaryFolder folder;
    int count = 0;
    for (const Folder& one : folders) {
        const std::string path = folder.file(std::to_string(count++));
        fs::create_directories(path);
        for (const std::string& name : one.names)
            write_file_atomically(path + "/" + name, name.ends_with(".safetensors")
                                                         ? std::string("\x02\0\0\0\0\0\0\0{}", 10)
                                                         : "{}");
        INFO(one.what);
        CHECK_THAT(other_path_sentence(path), Contains(one.what) && Contains(one.remedy));
        CHECK_THAT(input_error([&] { Model::open(path); }), Contains(one.what) && Contains(one.remedy));
    }
}
