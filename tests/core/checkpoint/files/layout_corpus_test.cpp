#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/toy_model.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

using namespace headscope;
using namespace headscope::checkpoint;

namespace {

void add_zeros(TensorFiles& tensors, const std::string& name, std::vector<std::int64_t> extents) {
    tensors.add_made({name, "F32", std::move(extents)}, []() -> TensorPtr { return nullptr; });
}

/// Reads each file of a corpus; those called good_ are accepted, the others refused.
void check_corpus(const std::string& name, const std::function<void(const std::string& text)>& read) {
    int good = 0, bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/corpus/") + name)) {
        const std::string file = entry.path().filename().string();
        const std::string message = input_error([&] { read(read_file(entry.path().string())); });
        INFO(name << " " << file << ": " << message);
        CHECK(message.empty() == file.starts_with("good_"));
        ++(file.starts_with("good_") ? good : bad);
    }
    CHECK(good >= 3);
    CHECK(bad >= 5);
}

} // namespace

TEST_CASE("descriptions of adapters, toy models and consolidated weights are accepted or refused") {
    check_corpus("adapter", [](const std::string& text) {
        std::istringstream lines(text);
        std::string config, name;
        std::getline(lines, config);
        auto tensors = std::make_shared<TensorFiles>();
        while (std::getline(lines, name))
            add_zeros(*tensors, name,
                      name.ends_with("lora_B.weight") ? std::vector<std::int64_t>{12, 2}
                                                      : std::vector<std::int64_t>{2, 4});
        static_cast<void>(Adapter::read(config, "input", tensors));
    });
    check_corpus("toy", [](const std::string& text) {
        auto tensors = std::make_shared<TensorFiles>();
        for (const auto& [name, extents] : std::map<std::string, std::vector<std::int64_t>>{
                 {"E", {6, 4}}, {"U", {4, 6}}, {"M", {4, 4}}, {"H", {2, 4, 2}}, {"O", {2, 2, 4}}, {"v", {4}}})
            add_zeros(*tensors, name, extents);
        static_cast<void>(read_toy_model(text, "input", tensors));
    });
    check_corpus("params", [](const std::string& text) {
        TensorFiles tensors;
        add_zeros(tensors, "model.embed_tokens.weight", {6, 4});
        add_zeros(tensors, "model.layers.0.mlp.gate_proj.weight", {8, 4});
        add_zeros(tensors, "model.layers.0.block_sparse_moe.experts.0.w1.weight", {8, 4});
        static_cast<void>(config_of_params(text, "params.json", tensors));
    });
}
