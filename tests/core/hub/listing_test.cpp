#include "core/hub/listing.h"

#include "tests/catch.h"
#include "tests/support.h"

#include <algorithm>
#include <fmt/format.h>

using namespace headscope;
using namespace headscope::hub;
using Catch::Contains;
using Catch::Equals;

namespace {

const std::string listed_commit(40, 'c');

std::vector<ListedFile> files_named(const std::vector<std::string>& names) {
    std::vector<ListedFile> files;
    for (const std::string& name : names)
        files.push_back({name, 1, std::string(40, '1')});
    return files;
}

std::vector<std::string> chosen_files(const std::vector<std::string>& names,
                                      const std::string& index = "{}") {
    std::vector<std::string> found;
    for (const ListedFile& file :
         files_to_get("a/b", files_named(names), [&](const ListedFile&) { return index; }))
        found.push_back(file.name);
    return found;
}

std::string listing_refusal(const std::vector<std::string>& names, const std::string& index = "{}") {
    return input_error([&] { chosen_files(names, index); });
}

} // namespace

TEST_CASE("a list of files has sizes, and hashes of git or of large files") {
    const std::string sha1(40, 'a'), sha256(64, 'b');
    const Listing listing = parse_listing(fmt::format(R"({{"sha": "{}", "siblings": [
            {{"rfilename": "config.json", "size": 5, "blobId": "{}"}},
            {{"rfilename": "x/model.safetensors", "size": 7, "blobId": "{}", "lfs": {{"sha256": "{}", "size": 7}}}},
            {{"rfilename": "vocab.txt"}}]}})",
                                                      listed_commit, sha1, sha1, sha256),
                                          "the list");
    CHECK(listing.commit == listed_commit);
    CHECK(listing.files == std::vector<ListedFile>{{"config.json", 5, sha1},
                                                   {"x/model.safetensors", 7, sha256},
                                                   {"vocab.txt", 0, ""}});
}

TEST_CASE("a malformed list of files is refused") {
    const std::string text =
        GENERATE(as<std::string>(), "", "[]", "{}", R"({"sha": 1, "siblings": []})",
                 R"({"sha": "main", "siblings": []})",
                 R"({"sha": "cccccccccccccccccccccccccccccccccccccccc", "siblings": {}})",
                 R"({"sha": "cccccccccccccccccccccccccccccccccccccccc", "siblings": [{"name": "x"}]})");
    CHECK_THAT(input_error([&] { parse_listing(text, "the list"); }), Catch::StartsWith("the list"));
}

TEST_CASE("a list that names a file outside the model's folder is refused") {
    const std::string name =
        GENERATE(as<std::string>(), "../config.json", "/etc/passwd", "a/../../x", "a//b", ".", "");
    const std::string list =
        fmt::format(R"({{"sha": "{}", "siblings": [{{"rfilename": "{}"}}]}})", listed_commit, name);
    CHECK_THAT(input_error([&] { parse_listing(list, "the list"); }), Contains("outside the model's folder"));
}

TEST_CASE("configuration, tokenizer and safetensors are chosen, never code or other formats") {
    CHECK_THAT(
        chosen_files({"README.md", "config.json", "flax_model.msgpack", "model.safetensors", "modeling_x.py",
                      "onnx/model.onnx", "pytorch_model.bin", "tf_model.h5", "tokenizer.json", "vocab.json",
                      "training_args.bin", "rust_model.ot", "1_Pooling/config.json"}),
        Equals(std::vector<std::string>{"config.json", "tokenizer.json", "vocab.json", "model.safetensors"}));
}

TEST_CASE("PyTorch files are chosen only without safetensors") {
    CHECK_THAT(chosen_files({"config.json", "pytorch_model.bin", "spiece.model"}),
               Equals(std::vector<std::string>{"config.json", "spiece.model", "pytorch_model.bin"}));
}

TEST_CASE("of weights in parts, the parts that the index names are chosen") {
    const std::string index =
        R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}})";
    CHECK_THAT(
        chosen_files({"config.json", "model-1.safetensors", "model-2.safetensors", "model-3.safetensors",
                      "consolidated.safetensors", "model.safetensors.index.json"},
                     index),
        Equals(std::vector<std::string>{"config.json", "model.safetensors.index.json", "model-1.safetensors",
                                        "model-2.safetensors"}));
    CHECK_THAT(listing_refusal({"config.json", "model-1.safetensors", "model.safetensors.index.json"}, index),
               Contains("model-2.safetensors") && Contains("incomplete"));
    CHECK_THAT(
        listing_refusal({"config.json", "model.safetensors.index.json"}, R"({"weight_map": {"a": "../x"}})"),
        Contains("outside the model's folder"));
    CHECK_THAT(listing_refusal({"config.json", "model.safetensors.index.json"}, "{}"),
               Contains("weight_map"));
}

TEST_CASE("a single safetensors file of another name is chosen, and adapters with their base's name") {
    CHECK_THAT(chosen_files({"config.json", "weights.safetensors"}),
               Equals(std::vector<std::string>{"config.json", "weights.safetensors"}));
    CHECK_THAT(chosen_files({"adapter_config.json", "adapter_model.safetensors", "README.md"}),
               Equals(std::vector<std::string>{"adapter_config.json", "adapter_model.safetensors"}));
}

TEST_CASE("a model without usable files is refused with the formats that it has") {
    CHECK_THAT(listing_refusal({"model-Q4_0.gguf", "README.md"}),
               Contains("GGUF") && Contains("no config.json"));
    CHECK_THAT(listing_refusal({"config.json", "tf_model.h5", "flax_model.msgpack"}),
               Contains("TensorFlow, Flax") && Contains("model.safetensors"));
    CHECK_THAT(listing_refusal({"README.md"}), Contains("no config.json and no weights"));
}
