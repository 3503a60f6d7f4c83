#include "core/checkpoint/files/toy_model.h"

#include "core/base/file.h"
#include "core/checkpoint/files/checkpoint_files.h"
#include "core/checkpoint/files/consolidated.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Tensors whose number i is i, by name and shape.
std::shared_ptr<TensorFiles>
counted_tensors(const std::map<std::string, std::vector<std::int64_t>>& extents) {
    auto tensors = std::make_shared<TensorFiles>();
    for (const auto& [name, shape] : extents)
        tensors->add_made({name, "F32", shape}, [shape = shape]() -> TensorPtr {
            auto tensor = std::make_shared<Tensor>(shape.size() == 1   ? Shape{shape[0]}
                                                   : shape.size() == 2 ? Shape{shape[0], shape[1]}
                                                                       : Shape{shape[0], shape[1], shape[2]});
            for (std::int64_t i = 0; i < tensor->count(); ++i)
                tensor->data()[i] = static_cast<float>(i);
            return tensor;
        });
    return tensors;
}

const std::map<std::string, std::vector<std::int64_t>> small_tensors{
    {"E", {5, 4}},        {"U", {4, 5}},       {"M", {4, 6}}, {"O", {6, 4}},
    {"heads", {2, 4, 3}}, {"packed", {18, 4}}, {"v", {4}}};

json toy_description() {
    return {{"heads", 2},
            {"embedding", "E"},
            {"norm", "none"},
            {"blocks", {{{"W_Q", "M"}, {"W_K", "M"}, {"W_V", "M"}, {"W_O", "O"}}}}};
}

ToyModel read_toy(const json& text) {
    return read_toy_model(text.dump(), "toy.json", counted_tensors(small_tensors));
}

std::string toy_error(const std::function<void(json&)>& change) {
    json text = toy_description();
    change(text);
    return input_error([&] { read_toy(text); });
}

} // namespace

TEST_CASE("a toy model's matrices are brought into the program's layout by their axes") {
    json text = toy_description();
    text["blocks"][0]["W_K"] = "heads"; // (H, D, dk)
    text["blocks"][0]["W_V"] = {{"tensor", "packed"}, {"axes", "H*dk D"}, {"rows", {6, 12}}};
    const ToyModel model = read_toy(text);
    CHECK(model.tensors.find("layers.0.W_K")->extents == std::vector<std::int64_t>{4, 6});
    const TensorPtr by_head = model.tensors.tensor("layers.0.W_K"),
                    part = model.tensors.tensor("layers.0.W_V");
    for (std::int64_t d = 0; d < 4; ++d)
        for (std::int64_t c = 0; c < 6; ++c) {
            CHECK(by_head->at(d, c) == static_cast<float>(c / 3 * 12 + d * 3 + c % 3));
            CHECK(part->at(d, c) == static_cast<float>((6 + c) * 4 + d));
        }
    const json config = json::parse(model.config);
    CHECK(config["head_dim"] == 3);
    CHECK(config["num_attention_heads"] == 2);
    CHECK(config["causal"] == true);
}

TEST_CASE("a toy model's description that does not fit its tensors is refused by key and tensor") {
    CHECK(toy_error([](json&) {}).empty());
    CHECK_THAT(toy_error([](json& text) { text.erase("embedding"); }), Contains("embedding is missing"));
    CHECK_THAT(toy_error([](json& text) { text["embedding"] = "X"; }), Contains("tensor X"));
    CHECK_THAT(toy_error([](json& text) { text.erase("heads"); }), Contains("heads"));
    CHECK_THAT(toy_error([](json& text) { text.erase("norm"); }), Contains("norm") && Contains("none"));
    CHECK_THAT(toy_error([](json& text) { text["norms"] = 1; }), Contains("norms") && Contains("known keys"));
    CHECK_THAT(toy_error([](json& text) { text["blocks"][0]["W_X"] = "M"; }), Contains("W_X"));
    CHECK_THAT(toy_error([](json& text) { text["blocks"][0]["W_K"] = "E"; }), Contains("W_K (E)"));
    CHECK_THAT(toy_error([](json& text) { text["blocks"][0]["W_in"] = "M"; }), Contains("W_out"));
    CHECK_THAT(toy_error([](json& text) {
                   text["layers"] = 5000;
                   text["block"] = text["blocks"][0];
                   text.erase("blocks");
               }),
               Contains("layers is 5000"));
    CHECK_THAT(toy_error([](json& text) {
                   text["blocks"][0]["W_V"] = {{"tensor", "packed"}, {"rows", {12, 99}}};
               }),
               Contains("rows 12 to 99"));
    CHECK_THAT(read_toy([&] {
                   json text = toy_description();
                   text["unembedding"] = "M";
                   return text;
               }())
                   .note,
               Contains("6 outputs for 5 tokens"));
}

TEST_CASE("params.json of consolidated weights becomes a config.json, or is refused by key") {
    const auto tensors = counted_tensors(
        {{"model.embed_tokens.weight", {6, 4}}, {"model.layers.0.mlp.gate_proj.weight", {9, 4}}});
    json params{{"dim", 4}, {"n_layers", 1}, {"n_heads", 2}, {"norm_eps", 1e-5}, {"vocab_size", -1}};
    const auto config = [&] { return json::parse(config_of_params(params.dump(), "params.json", *tensors)); };
    CHECK(config()["model_type"] == "llama");
    CHECK(config()["intermediate_size"] == 9);
    CHECK(config()["vocab_size"] == 6);
    CHECK(config()["tie_word_embeddings"] == true);
    params["use_scaled_rope"] = true;
    CHECK(config()["rope_scaling"]["factor"] == 8.0);
    params["sliding_window"] = 3;
    CHECK(config()["model_type"] == "mistral");
    params["q_lora_rank"] = 8;
    CHECK_THAT(input_error([&] { config(); }), Contains("q_lora_rank is 8"));
}

TEST_CASE("a JSON file is a toy model's description by its keys") {
    const TemporaryFolder folder;
    const std::string toy = folder.file("toy.json"), other = folder.file("other.json");
    write_file_atomically(toy, toy_description().dump());
    write_file_atomically(other, R"({"model": {"type": "BPE"}})");
    CHECK(is_toy_model(toy));
    CHECK(is_checkpoint(toy));
    CHECK_FALSE(is_toy_model(other));
    CHECK_FALSE(is_checkpoint(other));
    CHECK_THAT(input_error([&] { Model::open(toy); }), Contains("weights is missing"));
}
