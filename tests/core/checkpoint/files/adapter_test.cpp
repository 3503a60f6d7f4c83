#include "core/checkpoint/files/adapter.h"

#include "core/base/file.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/adapter_edits.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using AdapterTensors = std::map<std::string, TensorPtr>;

TensorPtr adapter_waves(const Shape& shape, double seed) {
    auto tensor = std::make_shared<Tensor>(shape);
    for (std::int64_t i = 0; i < tensor->count(); ++i)
        tensor->data()[i] = static_cast<float>(0.2 * std::sin(seed + 0.7 * static_cast<double>(i)));
    return tensor;
}

std::string copy_base(const std::string& folder, const std::string& golden) {
    fs::create_directories(folder);
    for (const char* const name : {"config.json", "model.safetensors"})
        fs::copy_file(test_data("/models/") + golden + "/" + name, folder + "/" + name);
    return folder;
}

json lora_config(const std::string& base) {
    return {{"peft_type", "LORA"}, {"base_model_name_or_path", base}, {"r", 3},
            {"lora_alpha", 6},     {"target_modules", {"c_attn"}},    {"inference_mode", true}};
}

std::string write_adapter(const std::string& folder, const json& config, const AdapterTensors& tensors) {
    fs::create_directories(folder);
    write_file_atomically(folder + "/adapter_config.json", config.dump());
    format::SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors)
        writer.add(name, tensor);
    write_file_atomically(folder + "/adapter_model.safetensors", writer.bytes());
    return folder;
}

const std::string c_attn = "base_model.model.transformer.h.0.attn.c_attn";

AdapterTensors of_gpt2() {
    return {{c_attn + ".lora_A.weight", adapter_waves({3, 32}, 1)},
            {c_attn + ".lora_B.weight", adapter_waves({96, 3}, 2)}};
}

/// W + scale B A by definition, W and the result (in, out) if `transposed`.
void check_product(const Tensor& own, const Tensor& changed, const Tensor& A, const Tensor& B, double scale,
                   bool transposed) {
    double largest = 0, change = 0;
    for (std::int64_t row = 0; row < own.shape()[0]; ++row)
        for (std::int64_t col = 0; col < own.shape()[1]; ++col) {
            double sum = 0;
            for (std::int64_t r = 0; r < A.shape()[0]; ++r)
                sum += static_cast<double>(B.at(transposed ? col : row, r)) *
                       static_cast<double>(A.at(r, transposed ? row : col));
            const double wanted = static_cast<double>(own.at(row, col)) + scale * sum;
            largest = std::max(largest, std::abs(wanted - static_cast<double>(changed.at(row, col))));
            change = std::max(change, std::abs(scale * sum));
        }
    CHECK(largest < 1e-6);
    CHECK(change > 0.01);
}

void check_tensor(const Model& adapted, const std::string& name, const Tensor& A, const Tensor& B,
                  double scale, bool transposed) {
    const TensorFiles own = TensorFiles::open(adapted.adapted()->base);
    check_product(*own.tensor(name), *adapted.files().tensor(name), A, B, scale, transposed);
}

} // namespace

TEST_CASE("a LoRA adapter opens over the base beside it, whose weights become W + s B A") {
    const TemporaryFolder folder;
    copy_base(folder.file("base"), "gpt2_tiny");
    const AdapterTensors tensors = of_gpt2();
    const std::string adapter = write_adapter(folder.file("tuned"), lora_config("someone/base"), tensors);
    CHECK(is_checkpoint(adapter));
    const Model model = Model::open(adapter);
    CHECK(model.problem().empty());
    REQUIRE(model.adapted() != nullptr);
    CHECK(model.adapted()->rank == 3);
    CHECK(model.adapted()->modules == std::vector<std::string>{"c_attn"});
    check_tensor(model, "transformer.h.0.attn.c_attn.weight", *tensors.at(c_attn + ".lora_A.weight"),
                 *tensors.at(c_attn + ".lora_B.weight"), 2.0, true);
    CHECK(describe_model("tuned", adapter).problem.empty());
    for (const char* const name : {"adapter_config.json", "adapter_model.safetensors"})
        CHECK(model_folder(adapter + "/" + name) == adapter);
}

TEST_CASE("a LoRA adapter may scale by the root of the rank, by module, and change an embedding") {
    const TemporaryFolder folder;
    copy_base(folder.file("base"), "llama_tiny_untied");
    json config = lora_config(folder.file("base"));
    config["use_rslora"] = true;
    config["alpha_pattern"] = {{"layers.1.self_attn.q_proj", 12}};
    const std::string q0 = "base_model.model.model.layers.0.self_attn.q_proj",
                      q1 = "base_model.model.model.layers.1.self_attn.q_proj",
                      embedding = "base_model.model.model.embed_tokens";
    const AdapterTensors tensors{{q0 + ".lora_A.weight", adapter_waves({4, 64}, 1)},
                                 {q0 + ".lora_B.weight", adapter_waves({64, 4}, 2)},
                                 {q1 + ".lora_A.default.weight", adapter_waves({9, 64}, 3)},
                                 {q1 + ".lora_B.default.weight", adapter_waves({64, 9}, 4)},
                                 {embedding + ".lora_embedding_A", adapter_waves({1, 128}, 5)},
                                 {embedding + ".lora_embedding_B", adapter_waves({64, 1}, 6)},
                                 {"base_model.model.lm_head.weight", adapter_waves({128, 64}, 7)}};
    const Model model = Model::open(write_adapter(folder.file("tuned"), config, tensors));
    check_tensor(model, "model.layers.0.self_attn.q_proj.weight", *tensors.at(q0 + ".lora_A.weight"),
                 *tensors.at(q0 + ".lora_B.weight"), 3.0, false);
    check_tensor(model, "model.layers.1.self_attn.q_proj.weight", *tensors.at(q1 + ".lora_A.default.weight"),
                 *tensors.at(q1 + ".lora_B.default.weight"), 4.0, false);
    check_tensor(model, "model.embed_tokens.weight", *tensors.at(embedding + ".lora_embedding_A"),
                 *tensors.at(embedding + ".lora_embedding_B"), 6.0, true);
    CHECK(same_bits(*model.files().tensor("lm_head.weight"), *tensors.at("base_model.model.lm_head.weight")));
    CHECK(model.adapted()->least_rank == 1);
    CHECK(model.adapted()->rank == 9);
}

TEST_CASE("a LoRA adapter is shown as edits of its base, which compute the same") {
    const TemporaryFolder folder;
    const auto check = [&](const std::string& golden, const AdapterTensors& tensors, std::size_t layers) {
        INFO(golden);
        copy_base(folder.file(golden), golden);
        const std::string adapter =
            write_adapter(folder.file(golden + "-tuned"), lora_config(folder.file(golden)), tensors);
        const EditedCheckpoint opened = open_edited(adapter);
        const Model &base = *opened.text->model, adapted = Model::open(adapter);
        CHECK(base.adapted() == nullptr);
        CHECK(opened.edits.size() == layers);
        CHECK_THAT(opened.note, Contains(golden + "-tuned") && Contains("rank 3"));
        check_edits(base, opened.edits);
        for (std::int64_t n = 0; n < base.architecture().layers; ++n) {
            const WeightSet edited = with_edits(base.layer(n), edits_of(opened.edits, n)),
                            whole = adapted.layer(n);
            for (const TensorId id : all_weights)
                if (whole[id] != nullptr)
                    CHECK(same_bits(
                        *(edited.rows.contains(id) ? with_rows(edited[id], edited.rows.at(id)) : edited[id]),
                        *whole[id]));
        }
        for (const TensorId id : {TensorId::W_E, TensorId::W_U})
            if (const TensorPtr whole = adapted.weight(id)) {
                const TableRows* const rows =
                    edited_rows(base.architecture(), opened.edits, id, base.architecture().layers - 1);
                CHECK(same_bits(*with_rows(base.weight(id), rows == nullptr ? TableRows() : *rows), *whole));
            }
    };
    check("gpt2_tiny", of_gpt2(), 1);
    const std::string qkv = "base_model.model.model.layers.1.self_attn.qkv_proj",
                      gate = "base_model.model.model.layers.1.mlp.gate_up_proj";
    check("phi3_tiny",
          {{qkv + ".lora_A.weight", adapter_waves({3, 64}, 1)},
           {qkv + ".lora_B.weight", adapter_waves({128, 3}, 2)},
           {gate + ".lora_A.weight", adapter_waves({3, 64}, 3)},
           {gate + ".lora_B.weight", adapter_waves({160, 3}, 4)},
           {"base_model.model.lm_head.weight", adapter_waves({150, 64}, 5)}},
          1);
    const std::string expert = "base_model.model.model.layers.0.mlp.experts.1.up_proj";
    check("qwen3_moe_tiny",
          {{expert + ".lora_A.weight", adapter_waves({3, 24}, 1)},
           {expert + ".lora_B.weight", adapter_waves({14, 3}, 2)}},
          1);
    const std::string fused = "base_model.model.gpt_neox.layers.0.attention.query_key_value";
    check("gpt_neox_tiny",
          {{fused + ".lora_A.weight", adapter_waves({3, 64}, 1)},
           {fused + ".lora_B.weight", adapter_waves({192, 3}, 2)}},
          1);
}

TEST_CASE("the base of a LoRA adapter is found by its name, or has to be named") {
    const TemporaryFolder folder;
    const Environment no_cache("HF_HUB_CACHE", folder.file("cache").c_str());
    const std::string adapter =
        write_adapter(folder.file("a/b/tuned"), lora_config("someone/tiny"), of_gpt2());
    CHECK_FALSE(find_adapter_base(adapter).has_value());
    CHECK_THAT(input_error([&] { Model::open(adapter); }),
               Contains("LoRA adapter of someone/tiny") && Contains("--base"));
    CHECK_THAT(describe_model("tuned", adapter).problem, Contains("someone/tiny"));
    const std::string cached =
        copy_base(folder.file("cache/models--someone--tiny/snapshots/abc"), "gpt2_tiny");
    CHECK(find_adapter_base(adapter) == cached);
    const std::string beside = copy_base(folder.file("a/b/tiny"), "gpt2_tiny");
    CHECK(find_adapter_base(adapter) == beside);
    const std::string named = copy_base(folder.file("named"), "gpt2_tiny");
    set_adapter_base(named, adapter);
    CHECK(find_adapter_base(adapter) == named);
    set_adapter_base("", adapter);
    CHECK(find_adapter_base(adapter) == beside);
    const std::string inside =
        write_adapter(named + "/checkpoint-3", lora_config("elsewhere/named"), of_gpt2());
    CHECK(find_adapter_base(inside) == named);
    const std::string of_path = write_adapter(folder.file("of_path"), lora_config("../named/"), of_gpt2());
    CHECK(fs::equivalent(*find_adapter_base(of_path), named));
}

TEST_CASE("a folder in which a trainer saved an adapter stands for it") {
    const TemporaryFolder folder;
    const std::string adapter =
        write_adapter(folder.file("out/checkpoint-20"), lora_config("base"), of_gpt2());
    CHECK(checkpoint_at(folder.file("out")) == adapter);
    // Beside a whole model the folder means two things.
    copy_base(adapter, "gpt2_tiny");
    CHECK_THAT(input_error([&] { checkpoint_at(adapter); }), Contains("a model and a LoRA adapter"));
    CHECK(model_folder(adapter + "/adapter_config.json") == adapter + "/adapter_config.json");
    CHECK(Adapter::open(adapter + "/adapter_config.json").folder() == adapter);
}

TEST_CASE("an adapter that is not plain LoRA, or not of its base, is refused by name") {
    const TemporaryFolder folder;
    copy_base(folder.file("base"), "gpt2_tiny");
    int count = 0;
    const auto error_with = [&](const json& config, const AdapterTensors& tensors) {
        return input_error([&] {
            Model::open(write_adapter(folder.file("adapter" + std::to_string(++count)), config, tensors));
        });
    };
    const auto with = [&](const char* key, const json& value) {
        json config = lora_config("base");
        config[key] = value;
        return error_with(config, of_gpt2());
    };
    CHECK(with("trainable_token_indices", nullptr).empty());
    CHECK(with("init_lora_weights", "gaussian").empty());
    CHECK_THAT(with("peft_type", "IA3"), Contains("peft_type is \"IA3\"") && Contains("LORA"));
    CHECK_THAT(with("use_dora", true), Contains("DoRA") && Contains("merge_and_unload"));
    CHECK_THAT(with("lora_bias", true), Contains("lora_bias is true"));
    CHECK_THAT(with("init_lora_weights", "pissa"), Contains("init_lora_weights") && Contains("plain LoRA"));
    CHECK_THAT(with("layer_replication", json{{0, 4}, {2, 5}}), Contains("layer_replication"));
    CHECK_THAT(with("alpha_pattern", json{{".*attn", 3}}), Contains("alpha_pattern"));

    AdapterTensors tensors = of_gpt2();
    tensors[c_attn + ".lora_magnitude_vector"] = adapter_waves({96}, 1);
    CHECK_THAT(error_with(lora_config("base"), tensors), Contains("DoRA"));
    tensors = of_gpt2();
    tensors.erase(c_attn + ".lora_B.weight");
    CHECK_THAT(error_with(lora_config("base"), tensors), Contains("h.0.attn.c_attn") && Contains("lora_B"));
    tensors = of_gpt2();
    tensors[c_attn + ".lora_B.weight"] = adapter_waves({64, 3}, 1);
    CHECK_THAT(error_with(lora_config("base"), tensors), Contains("(32, 64)") && Contains("(32, 96)"));
    const std::string other = "base_model.model.transformer.h.0.attn.q_proj";
    CHECK_THAT(error_with(lora_config("base"), {{other + ".lora_A.weight", adapter_waves({3, 32}, 1)},
                                                {other + ".lora_B.weight", adapter_waves({32, 3}, 1)}}),
               Contains("q_proj") && Contains("gpt2 models do not have"));
    // The embedding alone would no longer be the head's table.
    CHECK_THAT(error_with(lora_config("base"),
                          {{"base_model.model.transformer.wte.weight", adapter_waves({256, 32}, 1)}}),
               Contains("wte.weight"));
    tensors = of_gpt2();
    tensors["base_model.model.classifier.weight"] = adapter_waves({2, 32}, 1);
    const std::string classifier = write_adapter(folder.file("classifier"), lora_config("base"), tensors);
    CHECK(Model::open(classifier).adapted()->left_out == std::vector<std::string>{"classifier.weight"});
}
