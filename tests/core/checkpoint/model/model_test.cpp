#include "core/checkpoint/model/model.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random_access_file.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Tensors = std::map<std::string, TensorPtr>;

/// A copy of a golden model whose config and tensors a test may change.
struct Changed {
    json config;
    Tensors tensors;

    explicit Changed(const std::string& name) {
        const std::string folder = test_data("/models/") + name;
        config = json::parse(read_file(folder + "/config.json"));
        const format::Safetensors file = format::Safetensors::open(folder + "/model.safetensors");
        for (const format::SafetensorsEntry& entry : file.entries())
            if (!other_part_of(entry.name)) // convolutions of images have five axes
                tensors[entry.name] = file.tensor(entry.name);
    }

    static void write_tensors(const std::string& path, const Tensors& tensors) {
        format::SafetensorsWriter writer;
        for (const auto& [name, tensor] : tensors)
            writer.add(name, tensor);
        write_file_atomically(path, writer.bytes());
    }
    Model open(const TemporaryFolder& folder, std::size_t kept_bytes = Model::default_kept_bytes) const {
        write_file_atomically(folder.file("config.json"), config.dump());
        write_tensors(folder.file("model.safetensors"), tensors);
        return Model::open(folder.file(""), kept_bytes);
    }
    void rename(const std::function<std::string(const std::string&)>& name) {
        Tensors renamed;
        for (const auto& [old, tensor] : tensors)
            renamed[name(old)] = tensor;
        tensors = renamed;
    }
};

/// NaN in place of the numbers of every tensor with `part` in its name.
void spoil(const std::string& path, const std::string& part) {
    const format::Safetensors file = format::Safetensors::open(path);
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    std::size_t data = 0;
    for (const format::SafetensorsEntry& entry : file.entries())
        data = std::max(data, entry.end);
    data = fs::file_size(path) - data;
    for (const format::SafetensorsEntry& entry : file.entries())
        if (entry.name.find(part) != std::string::npos) {
            bytes.seekp(static_cast<std::streamoff>(data + entry.begin));
            bytes << std::string(entry.end - entry.begin, '\xff');
        }
}

ModelInputs three_tokens() {
    ModelInputs inputs;
    inputs.T = 3;
    inputs.ids = {4, 2, 7};
    return inputs;
}

std::vector<float> logits_of(const Model& model) {
    ModelInputs inputs = three_tokens();
    if (model.encoder() != nullptr)
        inputs.source = {three_tokens()};
    const ForwardResult result = run_on_cpu(model, inputs, {});
    REQUIRE(result.logits != nullptr);
    return {result.logits->values().begin(), result.logits->values().end()};
}

std::string without_prefix(const std::string& name) {
    return name.substr(name.find('.') + 1);
}

} // namespace

TEST_CASE("a checkpoint without prefix, with old names of gains, or in pieces is the same model") {
    for (const char* name : {"gpt2_tiny", "llama_tiny_tied"}) {
        const auto expected = logits_of(Model::open(test_data("/models/") + std::string(name)));
        Changed bare(name);
        bare.rename(without_prefix);
        const TemporaryFolder folder;
        CHECK(logits_of(bare.open(folder)) == expected);
    }
    const auto expected = logits_of(Model::open(test_data("/models/bert_tiny")));
    Changed old("bert_tiny");
    old.rename([](const std::string& name) {
        if (name.ends_with("LayerNorm.weight"))
            return name.substr(0, name.size() - 6) + "gamma";
        return name.ends_with("LayerNorm.bias") ? name.substr(0, name.size() - 4) + "beta" : name;
    });
    REQUIRE(old.tensors.contains("bert.embeddings.LayerNorm.gamma"));
    const TemporaryFolder folder;
    const Model model = old.open(folder);
    CHECK(model.report().unknown.empty());
    CHECK(logits_of(model) == expected);

    const Changed whole("bert_tiny");
    const TemporaryFolder pieces;
    Tensors first, second;
    json map = json::object();
    for (const auto& [name, tensor] : whole.tensors) {
        const bool early = name < "bert.encoder.layer.1";
        (early ? first : second)[name] = tensor;
        map[name] = early ? "model-1.safetensors" : "model-2.safetensors";
    }
    Changed::write_tensors(pieces.file("model-1.safetensors"), first);
    Changed::write_tensors(pieces.file("model-2.safetensors"), second);
    write_file_atomically(pieces.file("config.json"), whole.config.dump());
    const auto write_index = [&] {
        write_file_atomically(pieces.file("model.safetensors.index.json"), json{{"weight_map", map}}.dump());
    };
    write_index();
    CHECK(logits_of(Model::open(pieces.file(""))) == expected);

    map["bert.embeddings.LayerNorm.bias"] = "../model-1.safetensors";
    write_index();
    CHECK_THAT(input_error([&] { Model::open(pieces.file("")); }), Contains("same folder"));
    map["bert.embeddings.LayerNorm.bias"] = "model-1.safetensors";
    map["made.up"] = "model-1.safetensors";
    write_index();
    CHECK_THAT(input_error([&] { Model::open(pieces.file("")); }), Contains("has no tensor made.up"));
}

TEST_CASE("every golden checkpoint is the same model without the prefix of its base model") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + name);
        const std::string prefix(model.architecture().names.prefixes.front());
        Changed bare(name);
        bare.rename([&](const std::string& old) {
            return old.starts_with(prefix) ? old.substr(prefix.size()) : old;
        });
        const TemporaryFolder folder;
        CHECK(logits_of(bare.open(folder)) == logits_of(model));
    }
}

TEST_CASE("blocks of queries, key and value of one key head are those side by side") {
    Changed changed("falcon_tiny");
    changed.config.update(
        {{"new_decoder_architecture", true}, {"num_kv_heads", 1}, {"num_ln_in_parallel_attn", 1}});
    const TemporaryFolder folder;
    CHECK(logits_of(changed.open(folder)) == logits_of(Model::open(test_data("/models/falcon_tiny"))));
}

TEST_CASE("of tensors that share memory a file may keep one, under either name") {
    const auto check = [](const char* name, const std::string& usual, const std::string& kept) {
        INFO(name << " " << kept);
        Changed changed(name);
        changed.rename([&](const std::string& old) { return old == usual ? kept : old; });
        REQUIRE(changed.tensors.contains(kept));
        const TemporaryFolder folder;
        const Model model = changed.open(folder);
        CHECK(model.report().missing.empty());
        CHECK(model.report().head_missing.empty());
        CHECK(model.report().unknown.empty());
        CHECK(model.report().unused.empty());
        CHECK(logits_of(model) == logits_of(Model::open(test_data("/models/") + std::string(name))));
    };
    check("gpt2_tiny", "transformer.wte.weight", "lm_head.weight");
    check("llama_tiny_tied", "model.embed_tokens.weight", "lm_head.weight");
    check("bert_tiny", "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight");
    check("bert_tiny", "cls.predictions.bias", "cls.predictions.decoder.bias");
    check("roberta_tiny", "lm_head.bias", "lm_head.decoder.bias");
    for (const char* kept : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"})
        check("t5_tiny", "shared.weight", kept);
    for (const char* kept : {"shared.weight", "model.encoder.embed_tokens.weight",
                             "model.decoder.embed_tokens.weight", "lm_head.weight"})
        check("bart_tiny", "model.shared.weight", kept);
    Changed untied("llama_tiny_untied");
    untied.tensors.erase("model.embed_tokens.weight");
    const TemporaryFolder folder;
    CHECK(untied.open(folder).report().missing == std::vector<std::string>{"model.embed_tokens.weight"});
}

TEST_CASE("an encoder-decoder is the same model without its prefix, and with a table for each stack") {
    for (const char* name : {"bart_tiny", "marian_tiny"}) {
        INFO(name);
        const std::vector<float> expected = logits_of(Model::open(test_data("/models/") + std::string(name)));
        Changed bare(name);
        bare.rename([](const std::string& old) { return old.starts_with("model.") ? old.substr(6) : old; });
        const TemporaryFolder folder;
        CHECK(logits_of(bare.open(folder)) == expected);
        bare.tensors.erase("final_logits_bias");
        const Model unbiased = bare.open(folder);
        CHECK(unbiased.report().head_missing.empty());
        CHECK(logits_of(unbiased) != expected);
    }
    Changed apart("marian_tiny");
    const std::vector<float> expected = logits_of(Model::open(test_data("/models/marian_tiny")));
    apart.config.update({{"share_encoder_decoder_embeddings", false}, {"decoder_vocab_size", 150}});
    const TensorPtr shared = apart.tensors.at("model.shared.weight");
    apart.tensors.erase("model.shared.weight");
    apart.tensors["model.encoder.embed_tokens.weight"] = shared;
    apart.tensors["model.decoder.embed_tokens.weight"] = shared;
    const TemporaryFolder folder;
    CHECK(logits_of(apart.open(folder)) == expected);
    apart.tensors.erase("model.encoder.embed_tokens.weight");
    CHECK(apart.open(folder).report().missing ==
          std::vector<std::string>{"model.encoder.embed_tokens.weight"});
}

TEST_CASE("a head that equals the word table is tied to it, and one number apart it is a head of its own") {
    Changed changed("gpt2_tiny");
    const TemporaryFolder folder;
    const TensorPtr table = changed.tensors.at("transformer.wte.weight");
    changed.tensors["lm_head.weight"] = table;
    CHECK(changed.open(folder).architecture().tied);
    const auto other = std::make_shared<Tensor>(table->shape(), table->values());
    other->data()[other->count() - 1] += 1;
    changed.tensors["lm_head.weight"] = other;
    CHECK(!changed.open(folder).architecture().tied);
}

TEST_CASE("T5's head is scaled where it is tied, or where the config says so") {
    Changed changed("t5_tiny");
    const TemporaryFolder folder;
    const std::vector<float> tied = logits_of(changed.open(folder));
    const auto check = [&](double factor) {
        const std::vector<float> logits = logits_of(changed.open(folder));
        for (std::size_t i = 0; i < logits.size(); ++i)
            CHECK(logits[i] == Approx(factor * static_cast<double>(tied[i])).epsilon(1e-4).margin(1e-4));
    };
    const double root = std::sqrt(32.0);
    changed.config["scale_decoder_outputs"] = false; // and tie_word_embeddings true, as newer files say
    check(root);
    auto twice = std::make_shared<Tensor>(changed.tensors.at("shared.weight")->shape(),
                                          changed.tensors.at("shared.weight")->values());
    for (float& number : twice->values())
        number *= 2;
    changed.tensors["lm_head.weight"] = twice;
    check(2 * root);
    changed.config.erase("scale_decoder_outputs");
    changed.config["tie_word_embeddings"] = false;
    check(2 * root);
}

TEST_CASE("missing, misshapen, unknown and unused tensors are reported by name") {
    Changed changed("llama_tiny_untied");
    const TemporaryFolder folder;
    changed.tensors.erase("model.layers.1.mlp.up_proj.weight");
    changed.tensors["model.layers.0.self_attn.q_proj.bias"] = std::make_shared<const Tensor>(Shape{64}, 0.5F);
    changed.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] =
        std::make_shared<const Tensor>(Shape{4}, 1.0F);
    changed.tensors["model.norm.weight"] = std::make_shared<const Tensor>(Shape{63}, 1.0F);
    const Model model = changed.open(folder);
    const CheckpointReport& report = model.report();
    CHECK(report.missing == std::vector<std::string>{"model.layers.1.mlp.up_proj.weight"});
    CHECK(report.unknown == std::vector<std::string>{"model.layers.0.self_attn.q_proj.bias"});
    CHECK(report.unused == std::vector<std::string>{"model.layers.0.self_attn.rotary_emb.inv_freq"});
    REQUIRE(report.wrong_shape.size() == 1);
    CHECK_THAT(report.wrong_shape[0], Contains("model.norm.weight") && Contains("(63)") && Contains("(64)"));
    CHECK_THAT(input_error([&] { run_on_cpu(model, three_tokens(), {}); }), Contains("model.norm.weight"));
}

TEST_CASE("a tensor inside a layer that the family does not have is refused by name, or ignored when asked") {
    const std::string extra = "model.layers.1.self_attn.q_norm.weight";
    Changed changed("llama_tiny_untied");
    changed.tensors[extra] = std::make_shared<const Tensor>(Shape{8}, 2.0F);
    // Of no layer that runs, or a buffer: these stop nothing.
    changed.tensors["model.layers.2.self_attn.q_norm.weight"] = changed.tensors[extra];
    changed.tensors["model.layers.0.self_attn.rotary_emb.cos_cached"] = changed.tensors[extra];
    changed.tensors["score.weight"] = changed.tensors[extra];
    const TemporaryFolder folder;
    const Model refused = changed.open(folder);
    CHECK(refused.report().unknown_in_layers == std::vector{extra});
    CHECK(refused.ignored_tensors().empty());
    CHECK_THAT(input_error([&] { run_on_cpu(refused, three_tokens(), {}); }),
               Contains(extra) && Contains("--ignore-unknown"));

    set_unknown_tensors(UnknownTensors::ignore);
    const Model ignoring = Model::open(folder.file(""));
    set_unknown_tensors(UnknownTensors::refuse);
    CHECK(ignoring.ignored_tensors() == std::vector{extra});
    CHECK(ignoring.problem().empty());

    changed.tensors.erase(extra);
    const TemporaryFolder other;
    CHECK(changed.open(other).problem().empty());
}

TEST_CASE("without its head a model gives hidden states and no logits") {
    Changed changed("llama_tiny_untied");
    const TemporaryFolder folder;
    changed.tensors.erase("lm_head.weight");
    const Model model = changed.open(folder);
    CHECK(model.report().head_missing == std::vector<std::string>{"lm_head.weight"});
    const ForwardResult result = run_on_cpu(model, three_tokens(), {});
    CHECK(result.hidden.size() == 3);
    CHECK(result.logits == nullptr);
}

TEST_CASE("weights that are not finite are named") {
    for (const char* name : {"model.layers.1.mlp.up_proj.weight", "model.layers.0.self_attn.k_proj.weight",
                             "lm_head.weight", "model.embed_tokens.weight"}) {
        Changed changed("llama_tiny_untied");
        const TemporaryFolder folder;
        TensorPtr& tensor = changed.tensors[name];
        auto bad = std::make_shared<Tensor>(tensor->shape(), tensor->values());
        bad->data()[3] = std::numeric_limits<float>::quiet_NaN();
        tensor = bad;
        const Model model = changed.open(folder);
        CHECK_THAT(input_error([&] { run_on_cpu(model, three_tokens(), {}); }),
                   Contains("number 3 of tensor " + std::string(name) + " is NaN"));
    }
}

TEST_CASE("a file that is cut short or gone while the model is open gives an error, not a crash") {
    const Changed changed("gpt2_tiny");
    const TemporaryFolder folder;
    const Model model = changed.open(folder), none_kept = Model::open(folder.file(""), 0);
    const auto expected = logits_of(model);
    CHECK(logits_of(none_kept) == expected);
    fs::resize_file(folder.file("model.safetensors"), 20000);
    CHECK(logits_of(model) == expected); // the weights were read before
    CHECK_THAT(input_error([&] { run_on_cpu(none_kept, three_tokens(), {}); }), Contains("it was cut short"));
    CHECK_THAT(input_error([&] { Model::open(folder.file("")); }), Contains("cut short"));
    const Model whole = changed.open(folder);
    fs::remove(folder.file("model.safetensors"));
    CHECK(logits_of(whole) == expected);
}

TEST_CASE("weights are kept within the budget: around the layers first, then the last layers") {
    const Changed changed("gpt2_tiny");
    const TemporaryFolder folder;
    std::size_t around = 0, layer = 0;
    for (const auto& [name, tensor] : changed.tensors)
        (name.find(".h.") == std::string::npos ? around : layer) +=
            static_cast<std::size_t>(tensor->count()) * sizeof(float);
    layer /= 2;
    const auto still_read = [&](std::size_t budget, const std::string& part) {
        const Model model = changed.open(folder, budget);
        logits_of(model);
        spoil(folder.file("model.safetensors"), part);
        return !input_error([&] { run_on_cpu(model, three_tokens(), {}); }).empty();
    };
    CHECK(still_read(around - 1, "wte"));
    CHECK_FALSE(still_read(around, "wte"));
    CHECK_FALSE(still_read(around, "ln_f"));
    CHECK(still_read(around, ".h.1.mlp"));
    CHECK(still_read(around + layer, ".h.0.mlp"));
    CHECK_FALSE(still_read(around + layer, ".h.1.mlp"));
    CHECK_FALSE(still_read(around + 2 * layer, ".h.0.mlp"));
}

TEST_CASE("a memory limit leaves a quarter to kept weights, and refuses a pass that does not fit") {
    struct Limit {
        explicit Limit(std::uint64_t bytes) { limit_memory(bytes); }
        ~Limit() { limit_memory(std::numeric_limits<std::uint64_t>::max()); }
    };
    const TemporaryFolder folder;
    Changed("gpt2_tiny").open(folder);
    const Model none_kept = [&] {
        const Limit limit(1);
        return Model::open(folder.file(""));
    }();
    logits_of(none_kept);
    spoil(folder.file("model.safetensors"), "wte");
    CHECK_FALSE(input_error([&] { run_on_cpu(none_kept, three_tokens(), {}); }).empty());

    const Limit limit(1);
    const Model model = Model::open(test_data("/models/llama_tiny_untied"));
    const Architecture& a = model.architecture();
    const auto said = [&](std::int64_t T) -> std::string {
        ModelInputs inputs;
        inputs.T = T;
        inputs.ids.resize(static_cast<std::size_t>(T));
        try {
            run_on_cpu(model, inputs, {});
        } catch (const MemoryShortage& shortage) {
            return shortage.what();
        }
        return {};
    };
    // 1 MiB is always granted. The memory of a run is known before it begins.
    const std::int64_t granted = (std::int64_t{1} << 20U) / static_cast<std::int64_t>(sizeof(float));
    CHECK_THAT(said(granted / a.D),
               Contains("this run needs ") && Contains("and the memory limit leaves 0 MB"));
    CHECK(said(8).empty());
}

TEST_CASE("a folder without readable tensors says what to do") {
    const TemporaryFolder folder;
    CHECK_THAT(input_error([&] { Model::open(folder.file("nothing")); }), Contains("does not exist"));
    CHECK_THAT(input_error([&] { Model::open(folder.file("")); }), Contains("an empty folder"));
    write_file_atomically(folder.file("pytorch_model.bin"), "PK\x03\x04");
    CHECK_THAT(input_error([&] { Model::open(folder.file("")); }),
               Contains("pytorch_model.bin was cut short"));
    write_file_atomically(folder.file("model.safetensors"), "PK\x03\x04 and more bytes of a pickle");
    CHECK_THAT(input_error([&] { Model::open(folder.file("")); }), Contains("pickle"));
    fs::remove(folder.file("model.safetensors"));
    fs::create_directory(folder.file("model.safetensors"));
    CHECK_THAT(input_error([&] { Model::open(folder.file("")); }), Contains("not a regular file"));
}

// Hugging Face's XGLMSinusoidalPositionalEmbedding: the row of the padding id has zeros.
TEST_CASE("computed positions of XGLM have fairseq's frequencies and none for the padding id") {
    Changed changed("xglm_tiny");
    changed.config["pad_token_id"] = 5;
    const TemporaryFolder folder;
    const TensorPtr table = changed.open(folder).weight(TensorId::W_P);
    REQUIRE(table->shape() == Shape{42, 24});
    for (std::int64_t c = 0; c < 24; ++c) {
        CHECK(table->at(5, c) == 0.0F);
        const double angle = 7 / std::pow(10000.0, static_cast<double>(c % 12) / 11.0);
        CHECK(table->at(7, c) == Approx(c < 12 ? std::sin(angle) : std::cos(angle)).margin(1e-6));
    }
}

TEST_CASE("a file read piece by piece gives the bytes asked for") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("a"), "0123456789");
    const RandomAccessFile file(folder.file("a"));
    CHECK(file.size() == 10);
    std::string part(4, ' ');
    file.read(3, part);
    CHECK(part == "3456");
    CHECK_THAT(input_error([&] { file.read(8, part); }), Contains("ends at byte 10"));
    CHECK_THAT(input_error([&] { RandomAccessFile(folder.file("b")); }), Contains("No such file"));
}
