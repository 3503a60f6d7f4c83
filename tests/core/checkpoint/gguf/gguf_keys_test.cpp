#include "core/base/file.h"
#include "core/checkpoint/gguf/gguf_architecture.h"
#include "core/checkpoint/gguf/gguf_config.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/families/same_architecture.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

template<class Number>
void append_number(std::string& bytes, Number number) {
    std::array<char, sizeof(Number)> raw{};
    std::memcpy(raw.data(), &number, sizeof(Number));
    bytes.append(raw.data(), raw.size());
}

void append_text(std::string& bytes, const std::string& text) {
    append_number(bytes, static_cast<std::uint64_t>(text.size()));
    bytes += text;
}

/// A GGUF file with these pairs and two tables of zeros.
GgufFile gguf_with(const std::map<std::string, json>& pairs) {
    constexpr std::uint32_t version = 3, type_u32 = 4, type_f32 = 6, flag = 7, text = 8, tensor_f32 = 0;
    constexpr std::uint64_t width = 64, rows = 8, types = 2, alignment = 32;
    std::string bytes = "GGUF";
    append_number(bytes, version);
    append_number(bytes, std::uint64_t{2});
    append_number(bytes, static_cast<std::uint64_t>(pairs.size()));
    for (const auto& [key, value] : pairs) {
        append_text(bytes, key);
        if (value.is_boolean()) {
            append_number(bytes, flag);
            bytes.push_back(value.get<bool>() ? 1 : 0);
        } else if (value.is_number_integer()) {
            append_number(bytes, type_u32);
            append_number(bytes, value.get<std::uint32_t>());
        } else if (value.is_number()) {
            append_number(bytes, type_f32);
            append_number(bytes, value.get<float>());
        } else {
            append_number(bytes, text);
            append_text(bytes, value.get<std::string>());
        }
    }
    std::uint64_t at = 0;
    for (const auto& [name, count] : {std::pair("token_embd.weight", rows), {"token_types.weight", types}}) {
        append_text(bytes, name);
        append_number(bytes, std::uint32_t{2});
        append_number(bytes, width);
        append_number(bytes, count);
        append_number(bytes, tensor_f32);
        append_number(bytes, at);
        at += count * width * sizeof(float);
    }
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    bytes.append(at, '\0');
    return GgufFile::from_bytes(bytes, "x.gguf");
}

/// Keys that an architecture cannot do without, or that make others count.
const std::map<std::string, std::map<std::string, json>> own_pairs{
    {"cohere2", {{"logit_scale", 0.5}, {"attention.sliding_window", 9}}},
    {"command-r", {{"logit_scale", 0.5}}},
    {"starcoder", {{"attention.head_count_kv", 1}}},
    {"mpt", {{"feed_forward_length", 256}}},
    {"bloom", {{"feed_forward_length", 256}}},
    {"olmoe", {{"expert_count", 6}, {"expert_used_count", 1}}},
    {"granitemoe", {{"expert_count", 6}, {"expert_used_count", 1}}},
    {"gpt-oss", {{"expert_count", 6}, {"expert_used_count", 1}, {"attention.sliding_window", 9}}},
    {"qwen3moe", {{"expert_count", 6}, {"expert_used_count", 1}, {"expert_feed_forward_length", 24}}},
    {"llama4", {{"expert_count", 6}, {"expert_used_count", 1}, {"expert_feed_forward_length", 24}}},
    {"qwen2moe",
     {{"expert_count", 6},
      {"expert_used_count", 1},
      {"expert_feed_forward_length", 24},
      {"expert_shared_feed_forward_length", 24}}},
    {"deepseek2",
     {{"expert_count", 8},
      {"expert_used_count", 1},
      {"expert_feed_forward_length", 24},
      {"expert_gating_func", 2},
      {"expert_group_count", 4},
      {"expert_group_used_count", 2},
      {"rope.dimension_count", 4},
      {"attention.kv_lora_rank", 12},
      {"attention.key_length", 16},
      {"attention.value_length", 12},
      {"attention.key_length_mla", 12},
      {"attention.value_length_mla", 10}}}};

std::map<std::string, json> usual_pairs(const std::string& name) {
    constexpr std::array layer_norms{"gptneox", "gpt2",      "bert",       "cohere2",  "nemotron",
                                     "phi2",    "starcoder", "starcoder2", "mpt",      "stablelm",
                                     "bloom",   "falcon",    "olmo",       "command-r"};
    const bool layer_norm = std::ranges::find(layer_norms, name) != layer_norms.end();
    std::map<std::string, json> pairs{{"general.architecture", name}};
    for (const auto& [key, value] : std::map<std::string, json>{
             {"block_count", 2},
             {"embedding_length", 64},
             {"attention.head_count", 4},
             {"feed_forward_length", 96},
             {"context_length", 32},
             {layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 1e-5}})
        pairs[name + "." + key] = value;
    if (const auto own = own_pairs.find(name); own != own_pairs.end())
        for (const auto& [key, value] : own->second)
            pairs[name + "." + key] = value;
    return pairs;
}

/// Returns true if a value is what the architecture has without the key, or what its keys say already.
bool says_nothing_new(const std::string& name, const std::string& suffix) {
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::ranges::find(names, name) != names.end();
    };
    if (suffix == "attention.head_count_kv")
        return is({"starcoder", "deepseek2"});
    if (suffix == "attention.max_alibi_bias")
        return name == "mpt";
    if (suffix == "expert_weights_norm")
        return is({"qwen3moe", "granitemoe", "gpt-oss"});
    if (suffix == "expert_shared_count" || suffix == "expert_gating_func")
        return is({"deepseek2", "llama4"}); // other keys count, or all files have it
    if (suffix == "attention.key_length" || suffix == "attention.value_length")
        return name == "deepseek2"; // other keys count
    if (suffix == "use_parallel_residual")
        return name == "stablelm";
    // OLMo's class has a number of its own.
    return suffix == "attention.layer_norm_epsilon" && name == "olmo";
}

} // namespace

// The suffixes are those of llama.cpp's LLM_KV_NAMES (llama-arch.cpp), and one that does not exist.
TEST_CASE("every key that llama.cpp knows of an architecture is read, refused or known to be harmless") {
    const json table = json::parse(read_file(test_data("/gguf_keys.json")));
    const json &harmless = table.at("harmless"), &unscaled = table.at("harmless alone");
    std::size_t read = 0, refused = 0;
    for (const char* const name :
         {"llama",     "qwen2",   "qwen3",   "gemma2",    "gemma3",     "phi3",     "gptneox",
          "gpt2",      "bert",    "cohere2", "glm4",      "exaone4",    "nemotron", "qwen2moe",
          "qwen3moe",  "gemma",   "phi2",    "starcoder", "starcoder2", "stablelm", "mpt",
          "bloom",     "falcon",  "olmo",    "olmo2",     "olmoe",      "granite",  "granitemoe",
          "command-r", "chatglm", "smollm3", "deepseek2", "gpt-oss",    "llama4"}) {
        const std::map<std::string, json> usual = usual_pairs(name);
        const Architecture before = read_gguf_architecture(gguf_with(usual));
        const json& turnless = table.at("without rotary positions");
        const bool turns = std::ranges::find(turnless, name) == turnless.end();
        for (const auto& [suffix, value] : table.at("keys").items()) {
            const std::string key = std::string(name) + "." + suffix;
            INFO(key);
            std::map<std::string, json> pairs = usual;
            pairs[key] = value == "other" ? json(std::string(name) == "bert") : value;
            bool same = true;
            const std::string fault = input_error(
                [&] { same = same_architecture(before, read_gguf_architecture(gguf_with(pairs))); });
            read += fault.empty() && !same ? 1 : 0;
            refused += fault.empty() ? 0 : 1;
            if (suffix == "expert_count" && std::string(name) == "llama") // Mixtral needs more keys
                CHECK_THAT(fault, Contains("llama.expert_used_count is missing"));
            else if (suffix == "embedding_length" && !fault.empty()) // the MLP has a multiple of it
                CHECK_THAT(fault, Contains(key) || Contains("feed_forward_length"));
            else if (!fault.empty())
                CHECK_THAT(fault, Contains(key) || Contains(suffix.substr(suffix.rfind('.') + 1)));
            else if (same)
                CHECK((harmless.contains(suffix) || unscaled.contains(suffix) ||
                       (!turns && suffix.starts_with("rope.")) || says_nothing_new(name, suffix)));
        }
    }
    CHECK(read > 300);
    CHECK(refused > 1500);
}
