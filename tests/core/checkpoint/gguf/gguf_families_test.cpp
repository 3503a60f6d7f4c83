#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using nlohmann::json;

namespace {

/// Writes a GGUF file as llama.cpp's convert_hf_to_gguf.py does, all tensors as float32.
class GgufWriter {
public:
    void key(const std::string& name, const json& value) {
        text(pairs_, name);
        write(value, true);
        ++pair_count_;
    }
    void tensor(const std::string& name, const Tensor& numbers) {
        const std::int64_t rank = numbers.shape().rank();
        text(tensors_, name);
        number(tensors_, static_cast<std::uint32_t>(rank));
        for (std::int64_t axis = 0; axis < rank; ++axis) // innermost first
            number(tensors_, static_cast<std::uint64_t>(numbers.shape().back(static_cast<int>(axis))));
        number(tensors_, std::uint32_t{0});
        number(tensors_, static_cast<std::uint64_t>(data_.size()));
        data_.append(reinterpret_cast<const char*>(numbers.data()),
                     static_cast<std::size_t>(numbers.count()) * sizeof(float));
        pad(data_);
        ++tensor_count_;
    }
    std::string bytes() const {
        std::string out = "GGUF";
        number(out, std::uint32_t{3});
        number(out, tensor_count_);
        number(out, pair_count_);
        out += pairs_ + tensors_;
        pad(out);
        return out + data_;
    }

private:
    template<class Number>
    static void number(std::string& to, Number value) {
        std::array<char, sizeof(Number)> raw{};
        std::memcpy(raw.data(), &value, sizeof(Number));
        to.append(raw.data(), raw.size());
    }
    static void text(std::string& to, const std::string& value) {
        number(to, static_cast<std::uint64_t>(value.size()));
        to += value;
    }
    static void pad(std::string& to) { to.resize((to.size() + 31) / 32 * 32, '\0'); }
    void type(bool wanted, std::uint32_t code) {
        if (wanted)
            number(pairs_, code);
    }
    void write(const json& value, bool typed) {
        if (value.is_boolean()) {
            type(typed, 7);
            pairs_.push_back(value.get<bool>() ? 1 : 0);
        } else if (value.is_number_integer()) {
            type(typed, 4);
            number(pairs_, value.get<std::uint32_t>());
        } else if (value.is_number()) {
            type(typed, 6);
            number(pairs_, value.get<float>());
        } else if (value.is_string()) {
            type(typed, 8);
            text(pairs_, value.get<std::string>());
        } else { // a list of truth values
            type(typed, 9);
            number(pairs_, std::uint32_t{7});
            number(pairs_, static_cast<std::uint64_t>(value.size()));
            for (const json& entry : value)
                write(entry, false);
        }
    }

    std::string pairs_, tensors_, data_;
    std::uint64_t pair_count_ = 0, tensor_count_ = 0;
};

struct GgufFamily {
    const char* name;
    std::map<std::string, std::string> names; ///< of modules in a layer, as gguf-py maps them
    json keys;                                ///< without the architecture
};

std::string gguf_name(const GgufFamily& family, const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const std::string module = name.substr(0, dot), kind = name.substr(dot);
    if (module == "model.embed_tokens")
        return "token_embd" + kind;
    if (module == "model.norm")
        return "output_norm" + kind;
    if (module == "lm_head")
        return "output" + kind;
    const std::string rest = module.substr(std::string("model.layers.").size());
    const std::size_t end = rest.find('.');
    return "blk." + rest.substr(0, end) + "." + family.names.at(rest.substr(end + 1)) + kind;
}

} // namespace

TEST_CASE("golden models of four architectures have the same numbers in llama.cpp's files") {
    const std::map<std::string, std::string> usual{
        {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
        {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
        {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
        {"mlp.gate_up_proj", "ffn_up"},      {"mlp.down_proj", "ffn_down"},
        {"input_layernorm", "attn_norm"}};
    const auto with = [&](std::map<std::string, std::string> more) {
        more.insert(usual.begin(), usual.end());
        return more;
    };
    const std::vector<GgufFamily> families{
        {"cohere2",
         usual,
         {{"logit_scale", 0.6}, {"attention.sliding_window", 4}, {"rope.scaling.type", "none"}}},
        {"glm4",
         with({{"post_attention_layernorm", "ffn_norm"},
               {"post_self_attn_layernorm", "post_attention_norm"},
               {"post_mlp_layernorm", "post_ffw_norm"}}),
         {{"rope.dimension_count", 4}}},
        {"exaone4",
         with({{"post_attention_layernorm", "post_attention_norm"},
               {"post_feedforward_layernorm", "post_ffw_norm"}}),
         {{"attention.sliding_window", 4}, {"attention.sliding_window_pattern", {true, true, true, false}}}},
        {"nemotron",
         with({{"post_attention_layernorm", "ffn_norm"}}),
         {{"rope.dimension_count", 4}, {"rope.scaling.type", "none"}}}};
    for (const GgufFamily& family : families) {
        INFO(family.name);
        const std::string name = family.name;
        const ModelCase one = load_model_case(name + "_tiny");
        const json config = json::parse(read_file(one.folder + "/config.json"));
        GgufWriter writer;
        writer.key("general.architecture", name);
        const auto size = [&](const char* key) { return config.at(key).get<std::int64_t>(); };
        json keys = {{"block_count", size("num_hidden_layers")},
                     {"embedding_length", size("hidden_size")},
                     {"feed_forward_length", size("intermediate_size")},
                     {"context_length", size("max_position_embeddings")},
                     {"attention.head_count", size("num_attention_heads")},
                     {"attention.head_count_kv", size("num_key_value_heads")},
                     {"rope.freq_base", config.at("rope_theta")},
                     {config.contains("rms_norm_eps") ? "attention.layer_norm_rms_epsilon"
                                                      : "attention.layer_norm_epsilon",
                      1e-5}};
        if (config.contains("head_dim"))
            keys.update(
                {{"attention.key_length", size("head_dim")}, {"attention.value_length", size("head_dim")}});
        keys.update(family.keys);
        for (const auto& [key, value] : keys.items())
            writer.key(name + "." + key, value);
        const format::Safetensors file = format::Safetensors::open(one.folder + "/model.safetensors");
        for (const format::SafetensorsEntry& entry : file.entries()) {
            Tensor numbers(file.tensor(entry.name)->shape(), file.tensor(entry.name)->values());
            if (name == "nemotron" && entry.name.ends_with("norm.weight"))
                for (float& number : numbers.values())
                    number += 1.0F;
            writer.tensor(gguf_name(family, entry.name), numbers);
        }
        const TemporaryFolder folder;
        write_file_atomically(folder.file("x.gguf"), writer.bytes());
        const Model model = Model::open(folder.file("x.gguf"));
        CHECK(model.problem().empty());
        CHECK(model.report().unknown.empty());
        const ForwardResult run = run_on_cpu(model, one.inputs, {});
        CHECK(one.hidden_difference(one.L, *run.hidden.back()) < 2e-5);
        REQUIRE(run.logits != nullptr);
        CHECK(one.logits_difference(*run.logits) < 1e-4);
    }
}
